import CoreData
import Foundation

/// Write-ahead logs of a whole store. Half of them get correct checksums; SQLite ignores damaged frames otherwise.
struct LogTarget: FuzzTarget {
    let seeds: [[UInt8]]
    private let stores: StoreTarget
    private let main: Data

    init(folder: URL) throws {
        let url = folder.appendingPathComponent("logged.store")
        let context = try FuzzStore.context(
            of: FuzzStore.model, type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: true])
        let coordinator = context.persistentStoreCoordinator
        try FuzzStore.fill(context, count: 8)
        // While the store is open, all rows are in the log and none in the file.
        main = try Data(contentsOf: url)
        seeds = [[UInt8](try Data(contentsOf: URL(fileURLWithPath: url.path + "-wal")))]
        for store in coordinator?.persistentStores ?? [] { try coordinator?.remove(store) }
        stores = try StoreTarget(folder: folder, type: .sqlite)
    }

    func read(_ bytes: [UInt8]) throws {
        var log = bytes
        if bytes.reduce(0, &+).isMultiple(of: 2) { LogChecksums.correct(&log) }
        try stores.read(main, log: log)
    }
}

/// Checksums of a write-ahead log, as in SQLite's description of the file format.
private enum LogChecksums {
    private static let headerLength = 32
    private static let frameHeaderLength = 24

    /// Corrects the salts and checksums of all frames. Leaves bytes without the header of a log unchanged.
    static func correct(_ log: inout [UInt8]) {
        guard log.count >= headerLength else { return }
        let isBigEndian = log[3] & 1 == 1
        let pageSize = Int(word(log, 8, isBigEndian: true))
        guard pageSize >= 512, pageSize <= 65536 else { return }
        var sums: (UInt32, UInt32) = (0, 0)
        add(log, 0..<24, isBigEndian, &sums)
        put(sums, in: &log, at: 24)
        var frame = headerLength
        while frame + frameHeaderLength + pageSize <= log.count {
            for index in 0..<8 { log[frame + 8 + index] = log[16 + index] }
            add(log, frame..<frame + 8, isBigEndian, &sums)
            add(log, frame + frameHeaderLength..<frame + frameHeaderLength + pageSize, isBigEndian, &sums)
            put(sums, in: &log, at: frame + 16)
            frame += frameHeaderLength + pageSize
        }
    }

    private static func add(
        _ bytes: [UInt8], _ range: Range<Int>, _ isBigEndian: Bool, _ sums: inout (UInt32, UInt32)
    ) {
        for place in stride(from: range.lowerBound, to: range.upperBound - 7, by: 8) {
            sums.0 = sums.0 &+ word(bytes, place, isBigEndian: isBigEndian) &+ sums.1
            sums.1 = sums.1 &+ word(bytes, place + 4, isBigEndian: isBigEndian) &+ sums.0
        }
    }

    private static func word(_ bytes: [UInt8], _ place: Int, isBigEndian: Bool) -> UInt32 {
        let four = bytes[place..<place + 4]
        return isBigEndian
            ? four.reduce(0) { $0 << 8 | UInt32($1) } : four.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func put(_ sums: (UInt32, UInt32), in bytes: inout [UInt8], at place: Int) {
        for (index, sum) in [sums.0, sums.1].enumerated() {
            for byte in 0..<4 { bytes[place + 4 * index + byte] = UInt8(sum >> UInt32(24 - 8 * byte) & 0xFF) }
        }
    }
}
