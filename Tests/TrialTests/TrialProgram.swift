import ChildProgram
import Foundation
import Testing

/// A program of this package that tries many cases by itself, and says what went wrong.
enum TrialProgram {
    /// `ROSTER_LONG_TESTS`.
    static let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }

    /// Runs the program, which stands beside the tests, and expects that it finds nothing wrong.
    ///
    /// - Returns: what it printed, also seen in the log of a long run.
    @discardableResult
    static func run(_ name: String, _ arguments: [String]) throws -> String {
        let run = try ChildProgram(built: name, arguments)
        #expect(run.status == 0, "\(arguments.joined(separator: " ")):\n\(run.output)")
        if factor != nil { print(run.output) }
        return run.output
    }
}
