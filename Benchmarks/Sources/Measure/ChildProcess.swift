import Foundation

/// Runs this program again in a new process: a measurement must not depend on earlier work of the same process, above
/// all on the fragmentation of its heap.
enum ChildProcess {
    /// Runs the program with these arguments and waits until it exits.
    ///
    /// - Parameter output: Pipe for the output; nil to print to the same place as this process.
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
