import Foundation
import RosterCommands
@preconcurrency import Glibc

extension Flags {
    static let inPlace = Flag<Bool>("in-place", letter: "i", help: "Change the files and print their paths.")

    static let portReport = Flag<Bool>("json", help: "Print the report as JSON instead of the diff or the paths.")

    static let package = Flag<Bool>(
        "package", help: "Write a Package.swift for DIR. With --in-place, change the files too.")

    static let rosterSources = Flag<String>(
        "roster", value: "PATH", completion: .files,
        help: "With --package: path or address of the package that contains CoreData.")
}

/// Help and arguments of `port`. The program `roster-port`, of the package `Port`, does the work.
enum PortVerb: CommandVerb {
    static let name = "port"
    static let summary = "Port Swift source that was written for Apple's Core Data to this package."
    static let operands = [Operand(name: "DIR", completion: .files)]
    static let flags: [any CommandFlag] = [
        Flags.inPlace, Flags.portReport, Flags.package, Flags.rosterSources,
    ]
    static let notes = """
        Prints the changes as a diff for patch -p1 in DIR. Standard error lists the work that
        remains for you: each message once with its places, then the numbers of files, edits
        and places. The exit status is 3 if work remains.

        @NSManaged becomes @Managed or @ManagedMethod, #keyPath becomes a string, and the
        selector of a sort descriptor becomes a SortSelector. @objc and dynamic are removed.
        Initialisers that contexts call become required. Imports of frameworks that only
        Apple's systems have, and the code that needs them, are put inside #if canImport.
        Code that a condition such as #if os(iOS) excludes is not changed. Links, hidden
        folders, Pods, DerivedData and Carthage are skipped.

        --package makes a target of each folder in DIR that has Swift files, with its tests,
        models and resources, and lists imported modules that no target or package has. An
        existing Package.swift is not changed. Without --roster, the package depends on the
        sources that roster port was built from.
        Example: roster port Sources | less; roster port --in-place --package . && swift build
        """
    static let stopsCleanly = false

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        let switches = [Flags.inPlace, Flags.portReport, Flags.package].filter(arguments.has)
        var words = switches.map { "--\($0.name)" }
        if let roster = try arguments.value(Flags.rosterSources) { words += ["--\(Flags.rosterSources.name)", roster] }
        throw become("roster-port", words + ["--"] + arguments.operands)
    }

    /// Replaces this process with a program from this program's folder, or else the first of that name in `PATH`.
    ///
    /// - Returns: the error if the program cannot be run; on success the call does not return.
    private static func become(_ name: String, _ words: [String]) -> CommandError {
        let beside = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let arguments = ([name] + words).map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        execv(beside.appendingPathComponent(name).path, arguments + [nil])
        execvp(name, arguments + [nil])
        let reason = String(cString: strerror(errno))
        return .failure("cannot run \(name): \(reason). Run Scripts/port in the sources of roster, which builds it")
    }
}
