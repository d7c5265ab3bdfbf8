import Foundation
import RosterCommands
import Translation
@preconcurrency import Glibc

/// Main entry of the program: parses the arguments, runs the verb and returns the exit status.
enum Program {
    /// Runs the command line `words` and returns the exit status. On failure, writes one line to standard error.
    static func run(_ words: [String]) -> Int32 {
        // When a reader such as head closes the pipe, the program ends silently, even if its parent ignores SIGPIPE.
        signal(SIGPIPE, SIG_DFL)
        // A write beyond the file size limit fails like one on a full disk, instead of killing the program.
        signal(SIGXFSZ, SIG_IGN)
        StandardError.occupyStandardStreams()
        Translation.start(catalogs: Catalogs.folder, environment: ProcessInfo.processInfo.environment)
        var verb: any CommandVerb.Type = BrowseVerb.self
        var rest = words
        if let named = VerbTable.verb(of: words) { (verb, rest) = named }
        do {
            if let first = words.first, ["--version", "-V"].contains(first) {
                guard words.count == 1 else { throw CommandError.misuse("\(first) takes no other arguments") }
                return try tellVersion().code
            }
            try refuseOtherEncodings(words)
            try refuseUnknownVerb(words)
            return try run(verb, rest).code
        } catch {
            let name = verb.name.isEmpty ? "roster" : "roster \(verb.name)"
            let status = verb.status(for: error)
            let hint = ExitStatus(for: error) == .misuse ? sentence(" (see \(name) --help)") : ""
            StandardError.write("\(name): \(CommandError.line(for: error))\(hint)\n")
            return status.code
        }
    }

    /// Throws misuse if a word is not valid UTF-8. The runtime replaces invalid bytes, so the word would name another file.
    private static func refuseOtherEncodings(_ words: [String]) throws {
        guard words.contains(where: { $0.unicodeScalars.contains("\u{FFFD}") }),
            let bytes = FileManager.default.contents(atPath: "/proc/self/cmdline")
        else { return }
        for word in bytes.split(separator: 0).dropFirst() where String(validating: word, as: UTF8.self) == nil {
            throw CommandError.misuse("the argument “\(String(decoding: word, as: UTF8.self))” is not UTF-8")
        }
    }

    /// Throws if the first word is neither a verb nor an existing file, and another operand follows it.
    private static func refuseUnknownVerb(_ words: [String]) throws {
        guard words.count > 1, let first = words.first, VerbTable.verb(named: first) == nil, !first.hasPrefix("-"),
            !words[1].hasPrefix("-"), !FileManager.default.fileExists(atPath: first)
        else { return }
        guard !first.contains("/") else { throw CommandError.failure("no file “\(first)”") }
        let near = VerbTable.verbs(like: first).joined(separator: " or ")
        guard near.isEmpty else { throw CommandError.misuse("unknown verb “\(first)”; did you mean \(near)?") }
        throw CommandError.misuse("unknown verb “\(first)”")
    }

    private static func tellVersion() throws -> ExitStatus {
        let output = StandardOutput()
        try output.write("roster \(Version.text)\n")
        try output.flush()
        return .done
    }

    /// Throws if the working directory was deleted and an argument is a relative path.
    private static func checkWorkingDirectory(for verb: any CommandVerb.Type, _ arguments: Arguments) throws {
        if let folder = getcwd(nil, 0) { return free(folder) }
        guard let path = arguments.relativePath(for: verb) else { return }
        throw CommandError.failure(
            "cannot find “\(path)”: the working directory was deleted. Change to another directory, or give an absolute path"
        )
    }

    private static func run(_ verb: any CommandVerb.Type, _ words: [String]) throws -> ExitStatus {
        let arguments = try Arguments(words, of: verb)
        let output = StandardOutput()
        if arguments.has(Flags.help) {
            try output.write(HelpText.text(of: verb))
            try output.flush()
            return .done
        }
        try checkWorkingDirectory(for: verb, arguments)
        try DescriptorLimit.check()
        let report = try StatementReport(arguments, hasScreen: verb == BrowseVerb.self)
        try report?.begin()
        let interruption = JobControl()
        let signals = verb.stopsCleanly ? SignalInterruption(interruption, of: "roster \(verb.name)") : nil
        defer { withExtendedLifetime(signals) {} }
        let surroundings = CommandSurroundings(
            output: output, progress: ProgressBar(), interruption: interruption, textStyle: StandardOutput.textStyle,
            note: { StandardError.write("roster: \($0)\n") })
        let status = try verb.run(arguments, in: surroundings)
        try report?.end()
        return status
    }
}
