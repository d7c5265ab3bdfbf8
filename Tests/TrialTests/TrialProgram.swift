import ChildProgram
import Foundation
import Testing

/// A program of this package that tries many cases and reports failures.
enum TrialProgram {
    /// `ROSTER_LONG_TESTS`.
    static let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }

    /// Runs the program and expects status 0. The program is in the folder of the test program.
    ///
    /// - Returns: The program's output, which is also printed in a long run.
    @discardableResult
    static func run(_ name: String, _ arguments: [String]) throws -> String {
        let run = try ChildProgram(built: name, arguments)
        #expect(run.status == 0, "\(arguments.joined(separator: " ")):\n\(run.output)")
        if factor != nil { print(run.output) }
        return run.output
    }
}
