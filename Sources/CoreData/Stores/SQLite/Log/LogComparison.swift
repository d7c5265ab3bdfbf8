/// Compares the pages of a database file with those of its log.
struct LogComparison {
    private let contents: LogContents
    private let file: ReadableFile
    private let log: ReadableFile

    /// - Returns: `nil` if one of them cannot be read.
    init?(_ contents: LogContents, file path: String, log logPath: String) {
        guard let file = ReadableFile(path), let log = ReadableFile(logPath) else { return nil }
        (self.contents, self.file, self.log) = (contents, file, log)
    }

    /// Returns true if every page in the file is as the first `count` frames leave it.
    ///
    /// - Parameter greatest: the number of frames of a later, interrupted checkpoint. Pages may also be as these frames
    ///   leave them.
    func holds(_ count: Int, orUpTo greatest: Int = 0) -> Bool {
        let pages = contents.lastFrames(count)
        let later = contents.lastFrames(max(count, greatest))
        return pages.allSatisfy { page, frame in
            hasPage(page, ofFrame: frame) || later[page].map { $0 != frame && hasPage(page, ofFrame: $0) } == true
        }
    }

    private func hasPage(_ page: UInt32, ofFrame frame: Int) -> Bool {
        let own = file.read(contents.pageSize, at: Int(page - 1) * contents.pageSize)
        return !own.isEmpty && own == log.read(contents.pageSize, at: Int(contents.place(ofFrame: frame)))
    }
}
