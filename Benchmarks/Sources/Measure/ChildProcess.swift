import Foundation

/// This program, started once more: what is measured shall not depend on what the same process did before, above all on how
/// scattered its heap is.
enum ChildProcess {
    /// Runs the program with these arguments to its end.
    ///
    /// - Parameter output: where it prints to; as this one does if it is `nil`.
    static func run(_ arguments: [String], output: Pipe? = nil) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        if let output { process.standardOutput = output }
        fflush(nil)
        try process.run()
        let text = output.map { String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let command = arguments.joined(separator: " ")
            throw Options.Failure(description: "\(command) ended with \(process.terminationStatus)")
        }
        return text ?? ""
    }
}
