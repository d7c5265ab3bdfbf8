import Foundation

/// Where the user keeps settings, data and state, as the specification of XDG has it.
nonisolated enum UserFolder {
    /// The folder that the variable names; else `path` in `HOME`, else in the folder that the system has for the user.
    static func url(_ variable: String, else path: String) -> URL {
        let environment = ProcessInfo.processInfo.environment
        // The specification wants a relative path ignored.
        if let path = environment[variable], path.hasPrefix("/") { return URL(fileURLWithPath: path) }
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
        return URL(fileURLWithPath: home).appendingPathComponent(path)
    }
}
