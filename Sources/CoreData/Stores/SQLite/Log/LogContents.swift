import SQLiteAccess

/// The contents of a write-ahead log: all transactions in it that SQLite would play back.
///
/// Like SQLite, this relies on the checksums: a process that dies while a log is reused leaves frames with wrong pages,
/// followed by frames of earlier rounds. (The format is part of SQLite's documentation.)
struct LogContents {
    /// The number of pages of the database after the last commit.
    private(set) var size: Int64 = 0
    /// The first byte of each page in the log by page number, as of the last commit. In pages of tables and indexes it
    /// is the kind of the page.
    private(set) var firstBytes: [UInt32: UInt8] = [:]
    let pageSize: Int
    /// The page of each committed frame, in order.
    private(set) var committedPages: [UInt32] = []

    private static let headerSize = 32
    private static let frameHeaderSize = 24

    /// The headers of the first page after each commit that wrote it.
    private(set) var heads: [DatabaseHeader] = []

    /// Reads a log; `nil` if it has no commit. Cost: reads the log once.
    init?(path: String) {
        guard let file = ReadableFile(path), let (header, start) = Self.header(of: file) else { return nil }
        let pageSize = Int(header.bigEndianWord(at: 8))
        self.pageSize = pageSize
        var sum = start
        var place = Self.headerSize
        var pending: [(page: UInt32, firstByte: UInt8)] = []
        var head: DatabaseHeader?
        while true {
            let frame = file.read(Self.frameHeaderSize + pageSize, at: place)
            guard !frame.isEmpty, frame[8..<16] == header[16..<24] else { break }
            sum.add(frame[0..<8])
            sum.add(frame[Self.frameHeaderSize...])
            guard sum.equals(frame[16..<24]) else { break }
            let page = frame.bigEndianWord(at: 0)
            // SQLite ends the log at a frame without a page number.
            guard page != 0 else { break }
            pending.append((page, frame[Self.frameHeaderSize]))
            if page == 1 { head = DatabaseHeader(frame[Self.frameHeaderSize...]) }
            let committed = frame.bigEndianWord(at: 4)
            if committed != 0 {
                size = Int64(committed)
                for (page, firstByte) in pending { firstBytes[page] = firstByte }
                committedPages += pending.map(\.page)
                if let head { heads.append(head) }
                head = nil
                pending.removeAll(keepingCapacity: true)
            }
            place += frame.count
        }
        if size == 0 { return nil }
        // The log may have pages after the present end, from a time when the database was longer.
        firstBytes = firstBytes.filter { Int64($0.key) <= size }
    }

    /// The two salts of the header, which identify this round of the log; `nil` if the file is not a log.
    static func salts(ofLogAt path: String) -> [UInt8]? {
        ReadableFile(path).flatMap { header(of: $0) }.map { Array($0.bytes[16..<24]) }
    }

    /// Returns the last commit in a log without an index. Cost: reads the log once.
    static func end(ofLogAt path: String) -> LogEnd {
        guard let contents = LogContents(path: path), let file = ReadableFile(path) else { return .none }
        let frames = contents.committedPages.count
        let head = file.read(frameHeaderSize, at: Int(contents.place(ofFrame: frames - 1)) - frameHeaderSize)
        guard !head.isEmpty else { return .none }
        return LogEnd(
            salts: Array(head[8..<16]), frames: frames, checksum: Array(head[16..<24]), pageSize: contents.pageSize)
    }

    /// Returns true if a log, opened as `file`, ends with the commit in its index.
    static func hasCommit(_ end: LogEnd, in file: ReadableFile) -> Bool {
        file.noteSize()
        let frame = file.read(frameHeaderSize, at: headerSize + (end.frames - 1) * (frameHeaderSize + end.pageSize))
        return !frame.isEmpty && Array(frame[8..<16]) == end.salts && Array(frame[16..<24]) == end.checksum
            && file.read(headerSize, at: 0)[16..<24] == frame[8..<16]
    }

    /// Returns the header of a log and the checksum that its frames continue; `nil` if the file is not a log.
    private static func header(of file: ReadableFile) -> (bytes: [UInt8], sum: Checksum)? {
        let header = file.read(headerSize, at: 0)
        guard header.count == headerSize, header.bigEndianWord(at: 0) & ~1 == 0x377f_0682 else { return nil }
        let pageSize = header.bigEndianWord(at: 8)
        guard (512...65536).contains(pageSize), pageSize.nonzeroBitCount == 1 else { return nil }
        var sum = Checksum(isBigEndian: header[3] & 1 == 1)
        sum.add(header[0..<24])
        return sum.equals(header[24..<32]) ? (header, sum) : nil
    }

    /// The offset of a frame's page in the log.
    func place(ofFrame frame: Int) -> Int64 {
        Int64(Self.headerSize) + Int64(frame) * Int64(Self.frameHeaderSize + pageSize) + Int64(Self.frameHeaderSize)
    }

    /// Returns, for each page left in the database, the last of the first `count` frames that has it.
    func lastFrames(_ count: Int) -> [UInt32: Int] {
        var last: [UInt32: Int] = [:]
        for (frame, page) in committedPages.prefix(count).enumerated() where Int64(page) <= size {
            last[page] = frame
        }
        return last
    }
}

/// The running checksum of a log. Each frame continues that of the previous one.
private struct Checksum {
    let isBigEndian: Bool
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    /// - Parameter bytes: their number must be a multiple of eight.
    // SAFETY: the number of bytes is a multiple of eight, so each word is within them.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { buffer in
            for place in stride(from: 0, to: buffer.count, by: 8) {
                first &+= word(buffer, place) &+ second
                second &+= word(buffer, place + 4) &+ first
            }
        }
    }

    // SAFETY: the caller has four bytes at `place`.
    private func word(_ buffer: UnsafeRawBufferPointer, _ place: Int) -> UInt32 {
        let word = buffer.loadUnaligned(fromByteOffset: place, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }

    /// Returns true if the sum equals the stored one, which is always big-endian.
    func equals(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.elementsEqual(first.bigEndianBytes + second.bigEndianBytes)
    }
}
