import SourcePort

/// `port`: Swift source written for Apple's Core Data, rewritten for here.
public struct PortCommand {
    /// The folder of a program's source.
    public var path: String
    /// Whether the files are changed; else the changes are printed.
    public var isInPlace: Bool

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
        let files = folder.swiftFiles { problems.append($0) }
        // Of files that cannot be read it is said when they are ported.
        let facts = PortFacts(of: files.lazy.compactMap { try? folder.read($0) })
        for (number, file) in files.enumerated() {
            if surroundings.interruption.isRaised {
                throw CommandError.failure("stopped after \(number) of \(files.count) files")
            }
            surroundings.progress.report(
                fraction: Double(number) / Double(files.count), "\(number) of \(files.count) files")
            do {
                try port(file, in: folder, facts, surroundings, remark)
            } catch let error as CommandError {
                problems.append(error)
            }
        }
        surroundings.progress.end()
        try surroundings.output.flush()
        if let first = problems.first {
            for other in problems.dropFirst() { remark(CommandError.line(for: other)) }
            throw first
        }
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
            let isShown = surroundings.textStyle.columns != nil
            try surroundings.output.write(
                isShown ? diff.split(separator: "\n").map { VisibleText.shown(String($0)) + "\n" }.joined() : diff)
        }
    }
}
