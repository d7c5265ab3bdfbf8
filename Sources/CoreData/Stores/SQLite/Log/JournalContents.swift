import SQLiteAccess

// A rollback journal has the pages of its database as they were before a transaction. SQLite writes them back into whatever file it
// finds, and cuts or lengthens that to the length that the journal says. (The format is part of SQLite's documentation.)

/// What a rollback journal makes of its database.
struct JournalContents {
    /// The length, in pages, that the database is cut or lengthened to.
    let pageCount: Int
    let pageSize: Int
    /// The place of each page in the journal, as far as SQLite plays them.
    private var pages: [Int: Int] = [:]
    private let file: ReadableFile

    private static let mark: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

    /// Returns true if a file is there that SQLite plays or removes: one whose first byte is not zero.
    static func isLeft(at path: String) -> Bool {
        guard let first = ReadableFile(path)?.read(1, at: 0).first else { return false }
        return first != 0
    }

    /// - Returns: `nil` where it is no journal.
    init?(path: String) {
        guard let file = ReadableFile(path) else { return nil }
        self.file = file
        let head = file.read(28, at: 0)
        guard head.starts(with: Self.mark) else { return nil }
        pageCount = Int(head.bigEndianWord(at: 16))
        pageSize = Int(head.bigEndianWord(at: 24))
        guard Self.isSize(pageSize, least: 512), Self.isSize(Int(head.bigEndianWord(at: 20)), least: 32) else {
            return nil
        }
        readSegments()
    }

    private static func isSize(_ size: Int, least: Int) -> Bool {
        (least...65536).contains(size) && size.nonzeroBitCount == 1
    }

    /// Each time that the journal is synced a header follows, at the beginning of a sector.
    private mutating func readSegments() {
        var place = 0
        while true {
            let head = file.read(28, at: place)
            guard head.starts(with: Self.mark) else { return }
            let sector = Int(head.bigEndianWord(at: 20))
            guard Self.isSize(sector, least: 32) else { return }
            let stored = head.bigEndianWord(at: 8)
            let fit = max(0, file.size - place - sector) / (pageSize + 8)
            // All that follows, where the disk keeps the order of writes, or nothing was synced yet.
            let count = stored == .max || stored == 0 && place == 0 ? fit : Int(stored)
            for number in 0..<max(0, count) {
                guard readRecord(at: place + sector + number * (pageSize + 8), head.bigEndianWord(at: 12)) else {
                    return
                }
            }
            place += sector + count * (pageSize + 8)
            place += (sector - place % sector) % sector
        }
    }

    /// - Returns: whether it is whole; SQLite ends there where it is not.
    private mutating func readRecord(at place: Int, _ nonce: UInt32) -> Bool {
        let record = file.read(pageSize + 8, at: place)
        guard !record.isEmpty else { return false }
        let page = Int(record.bigEndianWord(at: 0))
        var sum = nonce
        for byte in stride(from: pageSize - 200, to: 0, by: -200) { sum &+= UInt32(record[4 + byte]) }
        guard page > 0, record.bigEndianWord(at: pageSize + 4) == sum else { return false }
        pages[page] = place + 4
        return true
    }

    // MARK: Evidence

    /// The largest database that is looked through as the journal would leave it.
    private static let checkedPages = 4096

    /// A reason why the journal is not that of a database's file; `nil` if there is none.
    func contradiction(with path: String) -> String? {
        guard let main = ReadableFile(path), let now = DatabaseHeader(main.read(DatabaseHeader.length, at: 0)) else {
            // The power failed while the database was made.
            return pageCount == 0 ? nil : "the file is empty, the journal is of one of \(pageCount) pages"
        }
        guard now.pageSize == pageSize else { return "it has pages of \(pageSize) bytes, the file of \(now.pageSize)" }
        if pageCount == 0 { return now.counter > 1 ? "it is that of a store that was being made" : nil }
        // Before a page is written that the journal does not have, the first one is as it was.
        let before = pages[1].flatMap { DatabaseHeader(file.read(pageSize, at: $0)) } ?? now
        guard Int(before.pageCount) == pageCount else {
            return "it is that of a file of \(pageCount) pages, not \(before.pageCount)"
        }
        guard before == now || before.canPrecede(now) else { return "it is that of another state of the store" }
        let length = main.size / pageSize
        guard pageCount <= length + pages.count + Int(before.freePageCount), pageCount <= length + pages.count * 1024
        else { return "it is that of a file of \(pageCount) pages, this one has \(length)" }
        return damage(in: main).map { "with it the store would be damaged (\($0))" }
    }

    private func damage(in main: ReadableFile) -> String? {
        guard pageCount <= Self.checkedPages else { return nil }
        return restored(main).flatMap(Connection.damage(inDatabase:))
    }

    /// The database as the journal would leave it; `nil` if the journal was cut meanwhile.
    private func restored(_ main: ReadableFile) -> [UInt8]? {
        var bytes = main.read(min(main.size, pageCount * pageSize), at: 0)
        bytes += [UInt8](repeating: 0, count: pageCount * pageSize - bytes.count)
        for (page, place) in pages where page <= pageCount {
            let content = file.read(pageSize, at: place)
            guard content.count == pageSize else { return nil }
            bytes.replaceSubrange((page - 1) * pageSize..<page * pageSize, with: content)
        }
        return bytes
    }

    /// The largest database that is read from memory.
    private static let readBytes = 1 << 28

    /// The database that a dead program left in the middle of a write, as it was before that: a reader plays no journal. No
    /// process has the store open.
    ///
    /// - Returns: `nil` for a large one, and for the journal of a transaction of several databases.
    static func database(at path: String) -> [UInt8]? {
        guard let journal = JournalContents(path: path + "-journal"), let main = ReadableFile(path),
            journal.pageCount > 0, journal.pageCount <= readBytes / journal.pageSize,
            journal.file.read(mark.count, at: journal.file.size - mark.count) != mark
        else { return nil }
        return journal.restored(main)
    }
}
