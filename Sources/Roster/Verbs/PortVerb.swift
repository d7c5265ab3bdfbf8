import Foundation
import RosterCommands
@preconcurrency import Glibc

extension Flags {
    static let inPlace = Flag<Bool>("in-place", letter: "i", help: "Change the files, and print their paths.")

    static let portReport = Flag<Bool>("json", help: "Print the report as JSON instead of the diff or the paths.")

    static let package = Flag<Bool>(
        "package", help: "Write the Package.swift that DIR lacks; with --in-place change the files, too.")

    static let rosterSources = Flag<String>(
        "roster", value: "PATH", completion: .files,
        help: "With --package: path or address of the package that has CoreData.")
}

/// Help and arguments of `port`. The program `roster-port`, of the package `Port`, does the work.
enum PortVerb: CommandVerb {
    static let name = "port"
    static let summary = "Rewrite Swift source that was written for Apple's Core Data for this package."
    static let operands = [Operand(name: "DIR", completion: .files)]
    static let flags: [any CommandFlag] = [
        Flags.inPlace, Flags.portReport, Flags.package, Flags.rosterSources,
    ]
    static let notes = """
        Prints what would change as a diff (for patch -p1 in DIR). Standard error lists the remaining work: each message
        once with its places, and the numbers of files, edits and places. Exit status 3: something is left to do.

        @NSManaged becomes @Managed and @ManagedMethod, #keyPath a text, a cast to an erased request .erased, a
        selector of a sort descriptor SortSelector; @objc and dynamic go; initialisers that contexts call are
        required; imports of frameworks that are only on Apple's systems, and what needs them, go behind
        #if canImport. What a condition such as #if os(iOS) excludes is left as it is, links are not followed, and
        hidden folders, Pods, DerivedData and Carthage are left out.

        --package makes a target of each folder in DIR that has Swift files, of its tests, models and other files, and
        lists the modules that nothing has. A Package.swift that is there is left as it is. Without --roster it names
        the sources that roster port was built from.
        Example: roster port Sources | less; roster port --in-place --package . && swift build
        """

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
        return .failure("cannot run \(name): \(reason). Scripts/port, in the sources of roster, builds and runs it")
    }
}
