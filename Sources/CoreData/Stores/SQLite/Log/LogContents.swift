#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What a write-ahead log makes of its database: all transactions in it that SQLite would play back.
///
/// Like SQLite, this goes by the checksums: a process that dies while a log is used again leaves frames whose page is
/// not theirs, and behind them stand those of former rounds. (The format is part of SQLite's documentation.)
struct LogContents {
    /// The number of pages after the last commit.
    private(set) var size: Int64 = 0
    /// The first byte of each page that is in the log, by the page's number, as the last commit left it. In pages of
    /// tables and indexes it tells their kind.
    private(set) var firstBytes: [UInt32: UInt8] = [:]
    let pageSize: Int
    /// The page of each committed frame, in their order.
    private(set) var committedPages: [UInt32] = []

    private static let headerSize = 32
    private static let frameHeaderSize = 24

    /// Reads a log; `nil` where nothing was committed. Cost: reads the log once.
    init?(path: String) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard let (header, start) = Self.header(of: file) else { return nil }
        let pageSize = Int(Self.number(header, 8))
        self.pageSize = pageSize
        var sum = start
        var place = Self.headerSize
        var pending: [(page: UInt32, firstByte: UInt8)] = []
        while true {
            let frame = Self.read(file, count: Self.frameHeaderSize + pageSize, at: place)
            guard !frame.isEmpty, frame[8..<16] == header[16..<24] else { break }
            sum.add(frame[0..<8])
            sum.add(frame[Self.frameHeaderSize...])
            guard sum.equals(frame[16..<24]) else { break }
            let page = Self.number(frame, 0)
            // SQLite ends the log at a frame that names no page.
            guard page != 0 else { break }
            pending.append((page, frame[Self.frameHeaderSize]))
            let committed = Self.number(frame, 4)
            if committed != 0 {
                size = Int64(committed)
                for (page, firstByte) in pending { firstBytes[page] = firstByte }
                committedPages += pending.map(\.page)
                pending.removeAll(keepingCapacity: true)
            }
            place += frame.count
        }
        if size == 0 { return nil }
        // Pages behind the end are those of a database that was longer once.
        firstBytes = firstBytes.filter { Int64($0.key) <= size }
    }

    /// What tells this round of a log from all others: the two salts of its header; `nil` where the file is no log.
    static func salts(ofLogAt path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return header(of: file).map { Array($0.bytes[16..<24]) }
    }

    /// The head of a log with the checksum that its frames go on from; `nil` where the file is no log.
    private static func header(of file: Int32) -> (bytes: [UInt8], sum: Checksum)? {
        let header = read(file, count: headerSize, at: 0)
        guard header.count == headerSize, number(header, 0) & ~1 == 0x377f_0682 else { return nil }
        let pageSize = number(header, 8)
        guard (512...65536).contains(pageSize), pageSize.nonzeroBitCount == 1 else { return nil }
        var sum = Checksum(isBigEndian: header[3] & 1 == 1)
        sum.add(header[0..<24])
        return sum.equals(header[24..<32]) ? (header, sum) : nil
    }

    /// Where the page of a frame begins in the log.
    func place(ofFrame frame: Int) -> Int64 {
        Int64(Self.headerSize) + Int64(frame) * Int64(Self.frameHeaderSize + pageSize) + Int64(Self.frameHeaderSize)
    }

    /// The last of the first `count` frames that has it, for each page that they leave in the database.
    func lastFrames(_ count: Int) -> [UInt32: Int] {
        var last: [UInt32: Int] = [:]
        for (frame, page) in committedPages.prefix(count).enumerated() where Int64(page) <= size {
            last[page] = frame
        }
        return last
    }

    // SAFETY: `pread` fills at most `count` bytes, for which there is room, and says how many.
    private static func read(_ file: Int32, count: Int, at offset: Int) -> [UInt8] {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = max(0, pread(file, buffer.baseAddress, count, off_t(offset)))
        }
        return bytes.count == count ? bytes : []
    }

    private static func number(_ bytes: [UInt8], _ place: Int) -> UInt32 {
        bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// The running checksum of a log: each frame's goes on from the one before it.
private struct Checksum {
    let isBigEndian: Bool
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    /// - Parameter bytes: a multiple of eight.
    // SAFETY: there is a multiple of eight bytes, and each word lies within.
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

    /// Whether the sum is the one that is written here, always with the highest byte first.
    func equals(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.elementsEqual(first.bigEndianBytes + second.bigEndianBytes)
    }
}
