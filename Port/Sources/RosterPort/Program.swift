import Foundation
import Glibc
import SourcePort

/// The program. Exit statuses: 0 done, 1 failed, 2 invalid arguments, 3 something is left to do.
enum Program {
    static let usage = """
        Usage: roster port DIR [OPTIONS]

        Port Swift source that was written for Apple's Core Data to this package.

        Options:
          -i, --in-place     Change the files and print their paths.
              --json         Print the report as JSON instead of the diff or the paths.
              --package      Write a Package.swift for DIR; with --in-place, change
                             the files too.
              --roster PATH  With --package: path or address of the package that has
                             CoreData. Default: the sources of this program.
              --help         Print this help.

        See roster port --help for details.

        """

    static func run(_ words: [String]) -> Int32 {
        // If a reader such as head exits, end the program without an error message.
        signal(SIGPIPE, SIG_DFL)
        // Report a file that exceeds the size limit as an error, like a full disk.
        signal(SIGXFSZ, SIG_IGN)
        do {
            guard let job = try Job(words) else {
                try Output.write(usage)
                return 0
            }
            Interruption.install()
            var left = 0
            if let package = job.package { left += try package.run { Output.tell($0) } }
            if let command = job.command { left += try command.run { Output.tell($0) } }
            return left == 0 ? 0 : 3
        } catch {
            let isMisuse = (error as? CommandError)?.kind == .misuse
            let hint = isMisuse ? " (see roster port --help)" : ""
            Output.tell("roster port: \(CommandError.line(for: error))\(hint)")
            return isMisuse ? 2 : 1
        }
    }
}

/// The commands that the arguments ask for.
struct Job {
    private(set) var command: PortCommand?
    private(set) var package: PackageCommand?

    /// - Returns: nil if the arguments ask for help.
    /// - Throws: ``CommandError`` of the kind `misuse`.
    init?(_ words: [String]) throws {
        var command = PortCommand(path: "")
        var operands: [String] = []
        var makesPackage = false
        var roster: String?
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--":
                operands += rest
                rest = []
            case "--help", "-h": return nil
            case "--in-place", "-i": command.isInPlace = true
            case "--json": command.printsReport = true
            case "--package": makesPackage = true
            case "--roster":
                guard let value = rest.popFirst() else { throw CommandError.misuse("--roster needs a PATH") }
                roster = value
            case _ where word.hasPrefix("-") && word != "-": throw CommandError.misuse("unknown option \(word)")
            default: operands.append(word)
            }
        }
        guard operands.count == 1 else {
            throw CommandError.misuse(operands.isEmpty ? "DIR is missing" : "“\(operands[1])” is one argument too many")
        }
        command.path = operands[0]
        if makesPackage {
            if command.printsReport { throw CommandError.misuse("--json cannot be used with --package") }
            package = PackageCommand(path: command.path, roster: try Self.package(roster))
        } else if roster != nil {
            throw CommandError.misuse("--roster is only valid with --package")
        }
        if !makesPackage || command.isInPlace { self.command = command }
    }

    /// Path or address of the package with `CoreData`. Default: the package that this program was built from.
    private static func package(_ named: String?) throws -> String {
        if let named, PackageManifest.isAddress(named) { return named }
        let folder = URL(fileURLWithPath: named ?? #filePath + "/../../../..").standardizedFileURL.path
        guard FileManager.default.fileExists(atPath: folder + "/Package.swift") else {
            throw CommandError.misuse(
                "\(folder) has no Package.swift. Pass the path or address of roster's sources with --roster")
        }
        return folder
    }
}
