import CoreData
import Foundation
import RosterCommands
import Glibc

/// The report of `--sql`: SQL statements that the program runs, as logged by the framework.
struct StatementReport {
    private let file: String?
    private let hasPlans: Bool

    /// Creates the report that the arguments request; `nil` if `--sql` was not given.
    /// - Parameter hasScreen: true if the program uses the terminal's screen, so that `--sql` needs a file.
    /// - Throws: ``CommandError`` of misuse if that file is missing, or for `--plans` without `--sql`.
    init?(_ arguments: Arguments, hasScreen: Bool) throws {
        hasPlans = arguments.has(Flags.plans)
        guard let value = try arguments.value(Flags.sql) else {
            if hasPlans { throw CommandError.misuse("--plans is only valid with --sql") }
            return nil
        }
        file = value.isEmpty ? nil : value
        if hasScreen, file == nil {
            throw CommandError.misuse(
                "--sql needs a file, because the terminal program uses the screen: --sql=FILE")
        }
    }

    /// Turns on the framework's statement log. Must be called before the first store is opened.
    /// - Throws: ``CommandError`` if the file cannot be written or has content other than statements.
    func begin() throws {
        if let file { try Self.check(OutputPlace(file).path) }
        var defaults: [String: Any] = [Self.key: hasPlans ? 3 : 2]
        defaults[Self.key + "File"] = file
        UserDefaults.standard.register(defaults: defaults)
    }

    /// Checks that all statements were written.
    /// - Throws: ``CommandError`` if some could not be written to the file.
    func end() throws {
        guard let file, let reason = StatementObservation.reportFailure else { return }
        throw CommandError.failure("cannot write \(file): \(reason). The file lacks statements")
    }

    private static let key = "com.apple.CoreData.SQLDebug"
    private static let beginning = "CoreData: "

    /// Throws if the file is not empty and does not begin like a report. Otherwise a mistyped name could append text to a store.
    private static func check(_ file: String) throws {
        let descriptor = open(file, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw CommandError.failure("cannot write \(file): \(String(cString: strerror(errno)))")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return }
        let found = try handle.read(upToCount: beginning.utf8.count)
        guard found == Data(beginning.utf8) else {
            throw CommandError.failure("\(file) is not a file of SQL statements. Name another file for --sql")
        }
    }
}
