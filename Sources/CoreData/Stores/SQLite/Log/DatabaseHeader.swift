// Nothing in a write-ahead log or rollback journal names its database. What links them is the first page: SQLite raises the change
// counter in it by one whenever it writes that page. Programs of this framework also give the store a new schema cookie with the first
// commit that goes into a log: half of it is random, the other half a hash of the cookie before. So the log says which state of the
// file it was written for, in any copy of the two, and a state of another branch of the store's life is not that one. SQLite compares
// the cookie with the one that it read and reads the schema again where it differs; no program does anything else with it.

/// The header of a database's file, or of its first page in a log or journal.
struct DatabaseHeader: Equatable {
    static let length = 100
    private static let mark = Array("SQLite format 3\0".utf8)
    private let bytes: [UInt8]

    /// - Parameter bytes: those of a first page; `nil` where they are none.
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

    /// Whether the next commit that wrote the first page can have left `next`. A connection that wrote it last does not raise the
    /// counter again.
    func canPrecede(_ next: DatabaseHeader) -> Bool {
        next.pageSize == pageSize && next.counter &- counter <= 1
            && (next.cookie &- cookie <= Self.schemaChanges
                || next.cookie == Self.mark(after: cookie, random: next.cookie >> 16))
    }

    /// The greatest number of changes of the schema that one commit of another program makes; each adds one to the cookie.
    private static let schemaChanges: UInt32 = 4096

    // MARK: Marks

    /// A cookie for the first commit after a state with the cookie `cookie`; another one each time.
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
