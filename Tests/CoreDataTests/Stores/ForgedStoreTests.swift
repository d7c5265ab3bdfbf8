import CoreData
import Foundation
import StoreConformance
import Testing

/// Numbers at the limits of their ranges in files of built-in atomic stores, and few bytes that expand to very many
/// values.
@Suite struct ForgedStoreTests {
    private func code(_ body: () throws -> Void) -> Int? {
        do { try body() } catch { return (error as NSError).code }
        return nil
    }

    private func filled(_ type: NSPersistentStore.StoreType) throws -> StoreConformance {
        let stack = try StoreConformance(type)
        try stack.inContext { context in
            _ = context.make("Author", named: "Ada")
            try context.save()
        }
        return stack
    }

    /// Opens the file at the stack's URL in a new coordinator.
    private func reopened(
        _ stack: StoreConformance, _ type: NSPersistentStore.StoreType, at url: URL? = nil,
        _ body: (NSManagedObjectContext) throws -> Void = { _ in }
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
        let store = try coordinator.addPersistentStore(type: type, at: url ?? stack.url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try body(context) }
        try coordinator.remove(store)
    }

    @Test(arguments: FileStoreTests.types + [.sqlite])
    func metadataKeepNumbersAsTheyAre(_ type: NSPersistentStore.StoreType) throws {
        let stack = try filled(type)
        let numbers: [NSNumber] = [
            1e30, -1e30, NSNumber(value: 0x1p63), NSNumber(value: Double.infinity), NSNumber(value: -Double.infinity),
            2.5,
            NSNumber(value: Int64.max), NSNumber(value: Int64.min), 9_007_199_254_740_993, true,
            NSNumber(value: UInt64.max),
        ]
        for number in numbers {
            do {
                try NSPersistentStoreCoordinator.setMetadata(["number": number], type: type, at: stack.url)
            } catch {
                #expect(number == NSNumber(value: UInt64.max) && (error as NSError).code == 134030)
                continue
            }
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: stack.url)
            #expect(metadata["number"] as? NSNumber == number, "\(number)")
        }
    }

    /// `<nextObjectID>` with any value, and rows with the highest numbers: the store opens, and saved objects are
    /// found.
    @Test(arguments: ["9223372036854775807", "9223372036854775806", "0", "-5", "1e30", "", "99999999999999999999"])
    func theNextNumberOfAnXMLStore(_ next: String) throws {
        let stack = try filled(.xml)
        let whole = try String(contentsOf: stack.url, encoding: .utf8)
        let place = try #require(whole.range(of: "<nextObjectID>[0-9]+</nextObjectID>", options: .regularExpression))
        for id in ["1", "9223372036854775807", "9223372036854775806", "281474976710656"] {
            let text = whole.replacingCharacters(in: place, with: "<nextObjectID>\(next)</nextObjectID>")
                .replacingOccurrences(of: "id=\"z[0-9]+\"", with: "id=\"z\(id)\"", options: .regularExpression)
            try Data(text.utf8).write(to: stack.url)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            let failure = code {
                try reopened(stack, .xml) { context in
                    #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == ["Ada"])
                    for number in 0..<3 { _ = context.make("Author", named: "New \(number)") }
                    try context.save()
                    #expect(try context.count(for: request) == 4)
                }
            }
            let isFull = next.hasPrefix("922") || id.hasPrefix("922")
            #expect(failure == (isFull ? 134030 : nil), "next \(next), row z\(id)")
            try reopened(stack, .xml) { (context) throws in
                #expect(try context.count(for: request) == (isFull ? 1 : 4))
            }
        }
    }

    private static func word(_ number: UInt64) -> Data {
        Data((0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) })
    }

    /// A binary property list of some objects, beginning with the root, and lists that each contain the next one twice.
    private static func sharedLists(_ depth: Int, behind first: [[UInt8]]) -> Data {
        var objects = first
        for _ in 0..<depth { objects.append([0xA2] + Array(repeating: UInt8(objects.count + 1), count: 2)) }
        objects.append([0x51, UInt8(ascii: "x")])
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
            bytes += object
        }
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
        return [objects.count, 0, table].reduce(into: Data(bytes)) { $0 += word(UInt64($1)) }
    }

    @Test func aBinaryStoreThatExpandsWithoutEndIsRefused() throws {
        let stack = try filled(.binary)
        func text(_ text: String) -> [UInt8] { [0x50 | UInt8(text.utf8.count)] + Array(text.utf8) }
        let payload = Self.sharedLists(
            100,
            behind: [
                [0xD3, 1, 2, 3, 4, 5, 6], text("metadata"), text("next"), text("rows"), [0xD1, 7, 8], [0x10, 1], [0xA0],
                text("k"),
            ])
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in payload { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let file = Data("RosterBinary1\n".utf8) + Self.word(UInt64(payload.count)) + Self.word(hash) + payload
        let url = stack.folder.appendingPathComponent("Forged.store")
        try file.write(to: url)
        #expect(code { try reopened(stack, .binary, at: url) } == 259)
        #expect(code { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .binary, at: url) } == 259)
        #expect(try Data(contentsOf: url) == file)
    }
}
