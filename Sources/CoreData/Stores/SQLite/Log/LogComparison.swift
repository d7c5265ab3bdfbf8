#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Compares the pages of a database's file with those of its log.
final class LogComparison {
    private let contents: LogContents
    private let file: Int32
    private let log: Int32

    /// - Returns: `nil` where one of them cannot be read.
    init?(_ contents: LogContents, file path: String, log logPath: String) {
        self.contents = contents
        file = open(path, O_RDONLY | O_CLOEXEC)
        log = open(logPath, O_RDONLY | O_CLOEXEC)
        if file < 0 || log < 0 { return nil }
    }

    deinit {
        if file >= 0 { close(file) }
        if log >= 0 { close(log) }
    }

    /// Whether the file has every page as the first `count` frames leave it.
    ///
    /// - Parameter greatest: where a later copying was cut off, how many frames it would have copied: pages may be as these
    ///   leave them, too.
    func holds(_ count: Int, orUpTo greatest: Int = 0) -> Bool {
        let pages = contents.lastFrames(count)
        let later = contents.lastFrames(max(count, greatest))
        return pages.allSatisfy { page, frame in
            hasPage(page, ofFrame: frame) || later[page].map { $0 != frame && hasPage(page, ofFrame: $0) } == true
        }
    }

    // MARK: A first copying that was cut off

    /// How a page of the file stands to the frames of the log that have it.
    private enum Standing {
        /// As the last of them has it: copied.
        case last
        /// As one before the last has it: an earlier copying was cut off, too.
        case earlier
        /// As none of them has it.
        case before
    }

    /// So many of the lowest pages have to be copied. Of those that the log has in two forms one could be the same by chance, such as
    /// that of a flag which was set and cleared again; of others several, which were written without being changed.
    private static let (fewChanged, fewWritten) = (2, 8)

    /// Whether the file is as a copying of the first `count` frames leaves it that was cut off: pages are copied in their order, so the
    /// lowest ones are those of the log, and the others still as they were before it.
    ///
    /// Pages that the log has in one form only tell little: SQLite also writes pages that it did not change, and a copy of the file
    /// has these as the log has them.
    func holdsPart(of count: Int) -> Bool {
        var frames: [UInt32: [Int]] = [:]
        for (frame, page) in contents.committedPages.prefix(count).enumerated() where Int64(page) <= contents.size {
            frames[page, default: []].append(frame)
        }
        var changed: [Standing] = []
        var written: [Standing] = []
        for (page, places) in frames.sorted(by: { $0.key < $1.key }) {
            let standing = standing(page, places)
            written.append(standing)
            if isChanged(places) { changed.append(standing) }
        }
        return Self.isPart(changed, atLeast: Self.fewChanged) || Self.isPart(written, atLeast: Self.fewWritten)
    }

    /// Whether pages, by their numbers, are those of the log up to one of them, and behind that, but for one in eight, as before.
    private static func isPart(_ pages: [Standing], atLeast least: Int) -> Bool {
        let rest = pages.drop { $0 != .before }
        let isBegun = pages.prefix { $0 != .before }.lazy.filter { $0 == .last }.count >= least
        return isBegun && rest.lazy.filter { $0 != .before }.count <= rest.count / 8
    }

    /// A file that ends before the page has not got it.
    private func standing(_ page: UInt32, _ frames: [Int]) -> Standing {
        guard let own = read(file, Int64(page - 1) * Int64(contents.pageSize)) else { return .before }
        if let last = frames.last, own == bytes(ofFrame: last) { return .last }
        return frames.dropLast().contains { own == bytes(ofFrame: $0) } ? .earlier : .before
    }

    /// Whether the log has a page in two forms: then the file before it had another one than the last.
    private func isChanged(_ frames: [Int]) -> Bool {
        guard let first = frames.first, let last = frames.last, first != last else { return false }
        return bytes(ofFrame: first) != bytes(ofFrame: last)
    }

    private func bytes(ofFrame frame: Int) -> [UInt8]? { read(log, contents.place(ofFrame: frame)) }

    private func hasPage(_ page: UInt32, ofFrame frame: Int) -> Bool {
        guard let own = read(file, Int64(page - 1) * Int64(contents.pageSize)) else { return false }
        return own == bytes(ofFrame: frame)
    }

    private func read(_ file: Int32, _ place: Int64) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: contents.pageSize)
        return pread(file, &bytes, bytes.count, off_t(place)) == bytes.count ? bytes : nil
    }
}
