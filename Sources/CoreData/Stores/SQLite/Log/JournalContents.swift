import SQLiteAccess

// A rollback journal has the pages of its database from before a transaction. SQLite writes them back into any file at
// the path and sets its length to that in the journal. (The format is part of SQLite's documentation.)

/// The contents of a rollback journal.
struct JournalContents {
    /// The number of pages of the database after the rollback.
    let pageCount: Int
    let pageSize: Int
    /// The offset of each page in the journal, up to the end that SQLite uses.
    private var pages: [Int: Int] = [:]
    private let file: ReadableFile

    private static let mark: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

    /// Returns true if there is a file that SQLite plays back or removes: its first byte is not zero.
    static func isLeft(at path: String) -> Bool {
        guard let first = ReadableFile(path)?.read(1, at: 0).first else { return false }
        return first != 0
    }

    /// - Returns: `nil` if the file is not a journal.
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

    /// Reads the segments. Each sync of the journal begins a new one, with a header at the start of a sector.
    private mutating func readSegments() {
        var place = 0
        while true {
            let head = file.read(28, at: place)
            guard head.starts(with: Self.mark) else { return }
            let sector = Int(head.bigEndianWord(at: 20))
            guard Self.isSize(sector, least: 32) else { return }
            let stored = head.bigEndianWord(at: 8)
            let fit = max(0, file.size - place - sector) / (pageSize + 8)
            // The segment extends to the end if the disk keeps the order of writes, or if nothing was synced yet.
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

    /// Reads the record at an offset of the journal.
    ///
    /// - Returns: true if the record is complete. SQLite stops at an incomplete one.
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

    /// The maximum size of a database, in pages, that is checked as the journal would leave it.
    private static let checkedPages = 4096

    /// Returns a reason why the journal does not belong to a database file; `nil` if there is none.
    func contradiction(with path: String) -> String? {
        guard let main = ReadableFile(path), let now = DatabaseHeader(main.read(DatabaseHeader.length, at: 0)) else {
            // The power failed while the database was created.
            return pageCount == 0 ? nil : "the file is empty, but the journal belongs to a file of \(pageCount) pages"
        }
        guard now.pageSize == pageSize else {
            return "its pages have \(pageSize) bytes, those of the file \(now.pageSize)"
        }
        if pageCount == 0 { return now.counter > 1 ? "it belongs to a store that was being created" : nil }
        // The first page is unchanged until a page is written that the journal does not have.
        let before = pages[1].flatMap { DatabaseHeader(file.read(pageSize, at: $0)) } ?? now
        guard Int(before.pageCount) == pageCount else {
            return "it belongs to a file of \(pageCount) pages, not \(before.pageCount)"
        }
        guard before == now || before.canPrecede(now) else { return "it belongs to another state of the store" }
        let length = main.size / pageSize
        guard pageCount <= length + pages.count + Int(before.freePageCount), pageCount <= length + pages.count * 1024
        else { return "it belongs to a file of \(pageCount) pages, but this file has \(length)" }
        return damage(in: main).map { "it would damage the store (\($0))" }
    }

    private func damage(in main: ReadableFile) -> String? {
        guard pageCount <= Self.checkedPages else { return nil }
        return restored(main).flatMap(Connection.damage(inDatabase:))
    }

    /// Returns the database as the journal would leave it; `nil` if the journal was truncated in the meantime.
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

    /// The maximum size of a database that is read from memory, in bytes.
    private static let readBytes = 1 << 28

    /// Returns the database as it was before a write that a killed program did not finish. SQLite rolls such a write
    /// back only on a writable connection. No process may have the store open.
    ///
    /// - Returns: `nil` for a large database, and for the journal of a transaction on several databases.
    static func database(at path: String) -> [UInt8]? {
        guard let journal = JournalContents(path: path + "-journal"), let main = ReadableFile(path),
            journal.pageCount > 0, journal.pageCount <= readBytes / journal.pageSize,
            journal.file.read(mark.count, at: journal.file.size - mark.count) != mark
        else { return nil }
        return journal.restored(main)
    }
}
