import Foundation
import ModelFiles

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

// What state a write-ahead log is in, read from its file (the format is part of SQLite's documentation): a header of 32
// bytes with two salts, and frames of 24 bytes and a page each. A frame belongs to the log if it has the header's salts;
// one with a database size in it ends a transaction. So the salts, the number of the last such frame and its checksum
// change with every commit, and with nothing else: copying the log's pages into the main file leaves them.
//
// Only the log is opened here. Opening and closing the main file or its `-shm` would drop the locks that SQLite holds
// on them for this process.

/// Follows the end of a store's write-ahead log.
struct WriteAheadLog {
    let path: String
    private var header: [UInt8] = []
    /// Frames up to and with the last commit that was seen. What follows may be overwritten by another transaction.
    private var committedCount = 0
    private var lastCommit: [UInt8] = []

    init(storePath: String) { path = storePath + "-wal" }

    private static let headerSize = 32
    private static let frameHeaderSize = 24

    /// A text that changes with every commit in the log; `nil` while there is none in it. Cost: a few bytes read per frame
    /// that was written since the last call.
    mutating func state() -> String? {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { Glibc.close(file) }
        let header = Self.read(file, count: Self.headerSize, at: 0)
        guard header.count == Self.headerSize else { return nil }
        if header != self.header {
            self.header = header
            committedCount = 0
            lastCommit = []
        }
        let pageSize = Int(Self.number(header, 8))
        guard pageSize >= 512 else { return nil }
        let frameSize = Self.frameHeaderSize + pageSize
        var frameCount = committedCount
        while true {
            let frame = Self.read(
                file, count: Self.frameHeaderSize, at: Self.headerSize + frameCount * frameSize)
            guard frame.count == Self.frameHeaderSize, frame[8..<16] == header[16..<24] else { break }
            frameCount += 1
            guard Self.number(frame, 4) != 0 else { continue }
            committedCount = frameCount
            lastCommit = frame[16..<24] + Self.bytes(frameCount)
        }
        guard !lastCommit.isEmpty else { return nil }
        // Salts, place and checksum of the last commit.
        return Self.hexadecimal(header[16..<24] + lastCommit)
    }

    private static func read(_ file: Int32, count: Int, at offset: Int) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let got = pread(file, &buffer, count, off_t(offset))
        return got == count ? buffer : []
    }

    private static func number(_ bytes: [UInt8], _ place: Int) -> UInt32 {
        bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func bytes(_ number: Int) -> [UInt8] { UInt64(number).bigEndianBytes }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
