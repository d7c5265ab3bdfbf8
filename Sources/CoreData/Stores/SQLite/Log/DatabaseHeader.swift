// A write-ahead log or rollback journal does not contain the name of its database. They are linked by the first page:
// SQLite increments its change counter whenever it writes that page. Programs of this framework also set a new schema
// cookie with the first commit in a log: half of it is random, the other half is a hash of the previous cookie. So a
// log identifies the state of the file for which it was written, also in copies, and not one of another copy. SQLite
// reads the schema again if the cookie differs from the one it read; no program uses it otherwise.

/// The header of a database file, read from the file or from the first page in a log or journal.
struct DatabaseHeader: Equatable {
    static let length = 100
    private static let mark = Array("SQLite format 3\0".utf8)
    private let bytes: [UInt8]

    /// - Parameter bytes: the bytes of a first page; `nil` if they have no header.
    init?(_ bytes: some Collection<UInt8>) {
        self.bytes = Array(bytes.prefix(Self.length))
        guard self.bytes.count == Self.length, self.bytes.starts(with: Self.mark) else { return nil }
    }

    init?(fileAt path: String) {
        guard let file = ReadableFile(path) else { return nil }
        self.init(file.read(Self.length, at: 0))
    }

    var pageSize: Int {
        let stored = Int(bytes[16]) << 8 | Int(bytes[17])
        return stored == 1 ? 65536 : stored
    }
    var counter: UInt32 { bytes.bigEndianWord(at: 24) }
    var pageCount: UInt32 { bytes.bigEndianWord(at: 28) }
    var freePageCount: UInt32 { bytes.bigEndianWord(at: 36) }
    var cookie: UInt32 { bytes.bigEndianWord(at: 40) }

    /// True if the next commit that writes the first page can leave `next`. A connection does not increment the counter
    /// again if it wrote the page last.
    func canPrecede(_ next: DatabaseHeader) -> Bool {
        next.pageSize == pageSize && next.counter &- counter <= 1
            && (next.cookie &- cookie <= Self.schemaChanges
                || next.cookie == Self.mark(after: cookie, random: next.cookie >> 16))
    }

    /// The maximum number of schema changes in one commit of another program. Each increments the cookie.
    private static let schemaChanges: UInt32 = 4096

    // MARK: Marks

    /// Returns a new random cookie for the first commit after a state with `cookie`.
    static func mark(after cookie: UInt32) -> UInt32 { mark(after: cookie, random: .random(in: 1..<0x8000)) }

    private static func mark(after cookie: UInt32, random: UInt32) -> UInt32 {
        var hash: UInt32 = 0x811c_9dc5
        for word in [cookie, random] {
            for shift in stride(from: UInt32(0), to: 32, by: 8) {
                hash = (hash ^ (word >> shift & 0xff)) &* 0x0100_0193
            }
        }
        return random << 16 | (hash ^ hash >> 16) & 0xffff
    }
}
