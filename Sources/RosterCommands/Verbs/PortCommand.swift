import SourcePort

/// `port`: Swift source written for Apple's Core Data, rewritten for here.
public struct PortCommand {
    /// The folder of a program's source.
    public var path: String
    /// Whether the files are changed; else the changes are printed.
    public var isInPlace: Bool

    /// The command with what it is asked for; see the properties.
    public init(path: String, isInPlace: Bool = false) {
        self.path = path
        self.isInPlace = isInPlace
    }

    /// Prints the changes of all files as one diff, or makes them and prints the paths of the files. What a person has to do is said
    /// in notes.
    ///
    /// - Parameter remark: hears of what could not be done: `file:line: what, and what to do`.
    /// - Throws: ``CommandError`` when a file or a folder cannot be read or written; all others are done before.
    public func run(in surroundings: CommandSurroundings, remark: (String) -> Void) throws {
        let folder = try SourceFolder(path)
        var problems: [CommandError] = []
        var remarks: [String] = []
        // Behind the diff, where they are read.
        defer { for text in remarks { remark(text) } }
        let files = folder.swiftFiles { problems.append($0) }
        // Of files that cannot be read it is said when they are ported.
        let facts = PortFacts(
            of: files.lazy.prefix { _ in !surroundings.interruption.isRaised }.compactMap { try? folder.read($0) })
        for (number, file) in files.enumerated() {
            if surroundings.interruption.isRaised {
                surroundings.progress.end()
                throw CommandError.failure("stopped after \(number) of \(files.count) files")
            }
            // A diff on a screen shows by itself how far it has come.
            if isInPlace {
                surroundings.progress.report(
                    fraction: Double(number) / Double(files.count), "\(number) of \(files.count) files")
            }
            do {
                try port(file, in: folder, facts, surroundings) { remarks.append($0) }
            } catch let error as CommandError {
                problems.append(error)
            }
        }
        surroundings.progress.end()
        try surroundings.output.flush()
        guard let first = problems.first else { return }
        remarks += problems.dropFirst().map(CommandError.line)
        throw first
    }

    private func port(
        _ file: String, in folder: SourceFolder, _ facts: PortFacts, _ surroundings: CommandSurroundings,
        _ remark: (String) -> Void
    ) throws {
        let bytes = try folder.read(file)
        let ported = SourcePort.port(bytes, knowing: facts)
        for note in ported.notes {
            remark("\(VisibleText.oneLine(folder.full(file))):\(note.line): \(VisibleText.oneLine(note.message))")
        }
        guard !ported.edits.isEmpty else { return }
        if isInPlace {
            try folder.replace(file, bytes, by: ported.text)
            try surroundings.output.write("ported \(VisibleText.shown(folder.full(file)))\n")
        } else {
            let diff = ported.diff(path: VisibleText.oneLine(file))
            // A screen must not obey what a file says; everywhere else the diff is for `patch`, to the byte.
            let isOnScreen = surroundings.textStyle.columns != nil
            try surroundings.output.write(isOnScreen ? Self.shown(diff) : diff)
        }
    }

    /// Lines and tabs stay, all other characters that a screen would obey do not.
    private static func shown(_ diff: String) -> String {
        diff.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            line.split(separator: 0x09, omittingEmptySubsequences: false)
                .map { VisibleText.shown(String(decoding: $0, as: UTF8.self)) }.joined(separator: "\t")
        }.joined(separator: "\n")
    }
}
