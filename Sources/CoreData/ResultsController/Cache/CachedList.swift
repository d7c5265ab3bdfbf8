import Foundation

// The file of a list, in the byte order of the machine:
//
//   0  magic, 8 bytes             32  history number, or -1
//   8  length of the header       40  checksum of the rows
//  16  number of rows             48  checksum of the header, with this field 0
//  24  offset of the rows         56  number of sections; -1 for a list without
//  64  fingerprint, store token: a 4-byte length and UTF-8 each
//      for each section: 4 bytes rows, 4 bytes length of the name, name
//      for each row whose number is assigned again at each launch (``ReferenceTable``): 8 bytes row, 4 bytes length
//      of the text of its reference, text
//  rows: 8 bytes each, at a multiple of 4,096, to the end of the file
//
// The rows are mapped into memory, so opening a list reads only the header and the pages that are used. (The checksum
// of the rows is computed once with plain reads: one millisecond for a million rows.) A file is never changed: a new
// file replaces it.

/// A list stored on disk.
struct CachedList {
    /// Identifies store, entity, predicate, order and sections; the list is usable only if it matches.
    var fingerprint: String
    var origin: ListOrigin
    /// The sections of the list; `nil` for a list without sections.
    var sections: CachedSections?
    var rows: SharedElements<RowToken>
    /// The entity numbers of all rows, as ``RowToken``s pack them.
    var entities: Set<UInt64>
    /// The reference texts, by token, of rows whose numbers are only valid during one launch.
    var references: [UInt64: String] = [:]

    static let magic = UInt64(0x324C_5453_5254_4B43)
    static let headerStart = 64
    static let alignment = 4_096
}

/// The name and row count of each section. Names are decoded on demand, since a list shows only a few of them.
struct CachedSections: RandomAccessCollection {
    private(set) var names: PackedTexts
    /// The sections by number.
    private(set) var entries: [SectionEntry] = []

    fileprivate init(_ header: [UInt8], reserving count: Int) {
        names = PackedTexts(header)
        names.reserve(count)
        entries.reserveCapacity(count)
    }

    fileprivate mutating func add(rows: UInt32, nameFrom start: Int, count: Int) -> Bool {
        entries.append(SectionEntry(number: UInt32(entries.count), rowCount: rows))
        return names.add(from: start, count: count)
    }

    var startIndex: Int { 0 }
    var endIndex: Int { entries.count }

    subscript(number: Int) -> (name: String, rows: UInt32) { (names[number], entries[number].rowCount) }
}

// MARK: Reading

extension CachedList {
    /// Reads the file at `path`; `nil` if there is none, it is damaged, or `accepts` refuses its header.
    static func read(at path: String, accepts: (_ fingerprint: String) -> Bool) -> CachedList? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        guard let reader = CachedListHeader(file: file, fileSize: Int(status.st_size)), accepts(reader.fingerprint),
            let facts = CachedListRows(file: file, offset: reader.rowsOffset, count: reader.rowCount),
            facts.checksum.value == reader.rowsChecksum, !facts.hasRepeatedRow,
            let rows = map(file, reader, fileSize: Int(status.st_size))
        else { return nil }
        return CachedList(
            fingerprint: reader.fingerprint, origin: reader.origin, sections: reader.sections, rows: rows,
            entities: facts.entities, references: reader.references)
    }

    // SAFETY: the header was checked: `rowsOffset` is aligned and `rowCount` rows fit into `fileSize` bytes, which are
    // mapped until the closure unmaps them, once. Files of lists are replaced, never truncated, so the mapping stays
    // whole.
    private static func map(_ file: Int32, _ header: CachedListHeader, fileSize: Int) -> SharedElements<RowToken>? {
        guard header.rowCount > 0 else { return SharedElements([]) }
        guard let memory = mmap(nil, fileSize, PROT_READ, MAP_PRIVATE, file, 0), memory != MAP_FAILED else {
            return nil
        }
        let rows = memory.advanced(by: header.rowsOffset).assumingMemoryBound(to: RowToken.self)
        let address = UInt(bitPattern: memory)
        return SharedElements(mapped: UnsafeBufferPointer(start: rows, count: header.rowCount)) {
            munmap(UnsafeMutableRawPointer(bitPattern: address), fileSize)
        }
    }
}

/// The part of the file that precedes the rows.
private struct CachedListHeader {
    private(set) var fingerprint = ""
    private(set) var origin = ListOrigin(token: "", historyNumber: nil)
    private(set) var sections: CachedSections?
    private(set) var references: [UInt64: String] = [:]
    private(set) var rowCount = 0
    private(set) var rowsOffset = 0
    private(set) var rowsChecksum: UInt64 = 0

    // SAFETY: words are read and written at offsets below `headerStart`, and `bytes` has the requested count.
    init?(file: Int32, fileSize: Int) {
        guard let start = Self.bytes(of: file, count: CachedList.headerStart) else { return nil }
        func word(_ offset: Int) -> Int64 {
            start.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Int64.self) }
        }
        guard UInt64(bitPattern: word(0)) == CachedList.magic else { return nil }
        let length = Int(clamping: word(8))
        rowCount = Int(clamping: word(16))
        rowsOffset = Int(clamping: word(24))
        rowsChecksum = UInt64(bitPattern: word(40))
        guard length >= CachedList.headerStart, length <= rowsOffset, rowsOffset % CachedList.alignment == 0,
            rowCount >= 0, rowCount <= fileSize / 8, rowsOffset <= fileSize, fileSize - rowsOffset == rowCount * 8,
            var header = Self.bytes(of: file, count: length)
        else { return nil }
        let expected = UInt64(bitPattern: word(48))
        header.withUnsafeMutableBytes { $0.storeBytes(of: 0, toByteOffset: 48, as: UInt64.self) }
        guard Self.checksum(of: header) == expected else { return nil }
        guard parse(header, sectionCount: Int(clamping: word(56)), historyNumber: word(32)) else { return nil }
        if let sections, sections.entries.reduce(0, { $0 + $1.weight }) != rowCount { return nil }
    }

    // SAFETY: the bytes are read during the closure only.
    static func checksum(of header: [UInt8]) -> UInt64 {
        var checksum = ListChecksum()
        header.withUnsafeBytes { checksum.update($0) }
        return checksum.value
    }

    // SAFETY: `pread` fills at most `count` bytes, for which there is room, and returns their count.
    private static func bytes(of file: Int32, count: Int) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, pread(file, buffer.baseAddress, count, 0))
        }
        return bytes.count == count ? bytes : nil
    }

    /// Parses the header after its checksum was verified. A manipulated file may have a right checksum, so lengths are
    /// checked.
    ///
    /// - Returns: `false` if the header claims more data than it has.
    // SAFETY: the bytes are read during the closure only, each piece after its length was checked.
    private mutating func parse(_ header: [UInt8], sectionCount: Int, historyNumber: Int64) -> Bool {
        header.withUnsafeBytes { bytes in
            var position = CachedList.headerStart
            func number() -> UInt32? {
                guard bytes.count - position >= 4 else { return nil }
                defer { position += 4 }
                return bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)
            }
            func range() -> Range<Int>? {
                guard let count = number().map(Int.init), count <= bytes.count - position else { return nil }
                defer { position += count }
                return position..<position + count
            }
            func text() -> String? { range().map { String(decoding: bytes[$0], as: UTF8.self) } }
            guard let fingerprint = text(), let token = text() else { return false }
            self.fingerprint = fingerprint
            origin = ListOrigin(token: token, historyNumber: historyNumber < 0 ? nil : historyNumber)
            if sectionCount >= 0 {
                // Each section takes at least eight bytes.
                guard sectionCount <= (bytes.count - position) / 8 else { return false }
                var sections = CachedSections(header, reserving: sectionCount)
                for _ in 0..<sectionCount {
                    guard let rows = number(), let name = range(),
                        sections.add(rows: rows, nameFrom: name.lowerBound, count: name.count)
                    else { return false }
                }
                self.sections = sections
            }
            while position < bytes.count {
                guard let low = number(), let high = number(), let reference = text() else { return false }
                references[UInt64(high) << 32 | UInt64(low)] = reference
            }
            return true
        }
    }
}

// MARK: Writing

extension CachedList {
    /// Writes the list to `path`; a reader sees the old file or the new one.
    ///
    /// - Throws: the system's errors, as `POSIXError`s.
    // SAFETY: bytes are copied during the closures only; the words are below `headerStart`, for which there is room.
    static func write(
        fingerprint: String, origin: ListOrigin, sections: [(name: String, rows: UInt32)]?,
        references: [(row: RowToken, text: String)] = [], rowCount: Int,
        forEachRun: ((UnsafeBufferPointer<RowToken>) -> Void) -> Void, to path: String
    ) throws {
        var header = [UInt8](repeating: 0, count: headerStart)
        func append(_ text: String) {
            withUnsafeBytes(of: UInt32(text.utf8.count)) { header += $0 }
            header += text.utf8
        }
        append(fingerprint)
        append(origin.token)
        for section in sections ?? [] {
            withUnsafeBytes(of: section.rows) { header += $0 }
            append(section.name)
        }
        for reference in references {
            withUnsafeBytes(of: reference.row.code) { header += $0 }
            append(reference.text)
        }
        let rowsOffset = (header.count + alignment - 1) / alignment * alignment
        var checksum = ListChecksum()
        var rows = [UInt8]()
        rows.reserveCapacity(rowCount * 8)
        forEachRun { rows += UnsafeRawBufferPointer($0) }
        rows.withUnsafeBytes { checksum.update($0) }
        let words: [(Int, UInt64)] = [
            (0, magic), (8, UInt64(header.count)), (16, UInt64(rowCount)), (24, UInt64(rowsOffset)),
            (32, UInt64(bitPattern: origin.historyNumber ?? -1)), (40, checksum.value),
            (56, UInt64(bitPattern: Int64(sections?.count ?? -1))),
        ]
        header.withUnsafeMutableBytes { bytes in
            for (offset, word) in words { bytes.storeBytes(of: word, toByteOffset: offset, as: UInt64.self) }
        }
        let sum = CachedListHeader.checksum(of: header)
        header.withUnsafeMutableBytes { $0.storeBytes(of: sum, toByteOffset: 48, as: UInt64.self) }
        header += repeatElement(0, count: rowsOffset - header.count)
        try replaceFile(at: path, with: [header, rows])
    }

    private static func replaceFile(at path: String, with parts: [[UInt8]]) throws {
        let temporary = path + ".\(getpid()).\(UInt32.random(in: 0...UInt32.max)).new"
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        do {
            for part in parts { try write(part, to: file) }
            guard close(file) == 0, rename(temporary, path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    // SAFETY: `write` reads at most the remaining bytes, which the array holds.
    private static func write(_ bytes: [UInt8], to file: Int32) throws {
        try bytes.withUnsafeBytes { buffer in
            var position = 0
            while position < buffer.count {
                let count = Foundation.write(file, buffer.baseAddress?.advanced(by: position), buffer.count - position)
                guard count > 0 else {
                    let code = errno
                    close(file)
                    throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
                }
                position += count
            }
        }
    }
}
