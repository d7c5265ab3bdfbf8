import Foundation
import Glibc

/// The program from its arguments to its exit status: 0 done, 1 failed, 2 misuse, 3 something is left to do.
enum Program {
    static let usage = """
        Usage: roster port DIR [OPTIONS]

        Rewrite Swift source that was written for Apple's Core Data for this package.

        Options:
          -i, --in-place  Change the files, and print their paths.
              --json      Print the report as JSON instead of the diff or the paths.
              --help      Print this help.

        roster port --help says more.

        """

    static func run(_ words: [String]) -> Int32 {
        // A reader that goes away, such as head, ends the program without a word.
        signal(SIGPIPE, SIG_DFL)
        // A file that may not grow is an error as a full disk is.
        signal(SIGXFSZ, SIG_IGN)
        do {
            guard let command = try command(words) else {
                try Output.write(usage)
                return 0
            }
            Interruption.install()
            return try command.run { Output.tell($0) } == 0 ? 0 : 3
        } catch {
            let isMisuse = (error as? CommandError)?.kind == .misuse
            let hint = isMisuse ? " (see roster port --help)" : ""
            Output.tell("roster port: \(CommandError.line(for: error))\(hint)")
            return isMisuse ? 2 : 1
        }
    }

    /// The command that `words` ask for; nil for help.
    ///
    /// - Throws: ``CommandError`` of misuse.
    static func command(_ words: [String]) throws -> PortCommand? {
        var command = PortCommand(path: "")
        var operands: [String] = []
        var areOptions = true
        for word in words {
            switch word {
            case _ where !areOptions: operands.append(word)
            case "--": areOptions = false
            case "--help", "-h": return nil
            case "--in-place", "-i": command.isInPlace = true
            case "--json": command.printsReport = true
            case _ where word.hasPrefix("-") && word != "-": throw CommandError.misuse("there is no option \(word)")
            default: operands.append(word)
            }
        }
        guard operands.count == 1 else {
            throw CommandError.misuse(operands.isEmpty ? "DIR is missing" : "“\(operands[1])” is one argument too many")
        }
        command.path = operands[0]
        return command
    }
}
