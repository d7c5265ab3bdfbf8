import Foundation

/// The user's folders for settings, data and state, as the XDG specification defines them.
nonisolated enum UserFolder {
    /// The folder that the variable names; else `path` in `HOME`; else `path` in the system's home folder for the user.
    static func url(_ variable: String, else path: String) -> URL {
        let environment = ProcessInfo.processInfo.environment
        // The XDG specification requires that relative paths are ignored.
        if let path = environment[variable], path.hasPrefix("/") { return URL(fileURLWithPath: path) }
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
        return URL(fileURLWithPath: home).appendingPathComponent(path)
    }
}
