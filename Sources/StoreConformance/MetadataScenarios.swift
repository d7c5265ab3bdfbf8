import CoreData
import Foundation

// Metadata, and copies from and to other types.
extension StoreConformance {
    static let metadataScenarios = [
        Scenario("keeps metadata", keepsMetadata), Scenario("is copied to every built-in type", isCopied),
        Scenario("takes copies of every built-in type", needs: .copyTarget, takesCopies),
    ]

    private static let builtIn: [NSPersistentStore.StoreType] = [.sqlite, .inMemory, .binary, .xml]

    @Sendable private static func keepsMetadata(_ stack: StoreConformance) throws {
        try stack.fill()
        var metadata = stack.coordinator.metadata(for: stack.store)
        try expect(metadata[NSStoreTypeKey] as? String, stack.type.rawValue, "the type in the metadata")
        try expect(
            stack.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata),
            "the model fits the metadata")
        metadata["note"] = "你好"
        stack.coordinator.setMetadata(metadata, for: stack.store)
        try stack.inContext { try $0.save() }
        guard stack.keepsRows else { return }
        var kept = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: stack.type, at: stack.url)
        try expect(kept["note"] as? String, "你好", "metadata of the program's own")
        try expect(kept[NSStoreUUIDKey] as? String, stack.store.identifier, "the UUID in the metadata")
        kept["note"] = "neu"
        try stack.coordinator.remove(stack.store)
        try NSPersistentStoreCoordinator.setMetadata(kept, type: stack.type, at: stack.url)
        let store = try stack.coordinator.addPersistentStore(
            type: stack.type, at: stack.url, options: stack.options)
        let note = stack.coordinator.metadata(for: store)["note"] as? String
        try expect(note, "neu", "metadata that were set without a coordinator")
        try stack.inContext(checkFilled)
    }

    @Sendable private static func isCopied(_ stack: StoreConformance) throws {
        try stack.fill()
        for type in builtIn {
            let source = try need(stack.coordinator.persistentStores.first, "the store that is copied")
            let url = stack.folder.appendingPathComponent("Copy.\(type.rawValue)")
            let copy = try stack.coordinator.migratePersistentStore(source, to: url, type: type)
            try expect(copy.type, type.rawValue, "the type of the copy")
            try stack.inContext(checkFilled)
        }
    }

    @Sendable private static func takesCopies(_ stack: StoreConformance) throws {
        try stack.coordinator.remove(stack.store)
        for type in builtIn {
            let source = try StoreConformance(type)
            try source.fill()
            _ = try? stack.coordinator.destroyPersistentStore(at: stack.url, type: stack.type)
            try? FileManager.default.removeItem(at: stack.url)
            let copy = try source.coordinator.migratePersistentStore(source.store, to: stack.url, type: stack.type)
            try source.inContext(checkFilled)
            try source.coordinator.remove(copy)
            guard stack.keepsRows else { continue }
            try stack.coordinator.addPersistentStore(type: stack.type, at: stack.url, options: stack.options)
            try stack.inContext(checkFilled)
            try stack.coordinator.remove(stack.store)
        }
    }

    // MARK: History

    static let historyScenarios = [Scenario("keeps a history", needs: .history, keepsHistory)]

    @Sendable private static func keepsHistory(_ stack: StoreConformance) throws {
        try stack.reopen(options: stack.options.merging([NSPersistentHistoryTrackingKey: true]) { $1 })
        let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
        try stack.inContext { context in
            context.transactionAuthor = "importer"
            let tag = context.make("Tag", named: "one")
            try context.save()
            tag.setValue("two", forKey: "name")
            try context.save()
            context.delete(tag)
            try context.save()
        }
        try stack.inContext { context in
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = try need(result?.result as? [NSPersistentHistoryTransaction], "the transactions")
            try expect(transactions.map(\.author), Array(repeating: "importer", count: 3), "the authors")
            let kinds = transactions.flatMap { ($0.changes ?? []).map(\.changeType) }
            try expect(kinds, [.insert, .update, .delete], "the changes in their order")
            let updated = transactions[1].changes?.first?.updatedProperties?.map(\.name)
            try expect(updated, ["name"], "the properties of the update")
            let last = try need(transactions.last, "the last transaction")
            let rest = NSPersistentHistoryChangeRequest.fetchHistory(after: last.token)
            let later = (try context.execute(rest) as? NSPersistentHistoryResult)?.result
            try expect((later as? [NSPersistentHistoryTransaction])?.count, 0, "what follows the last token")
        }
    }
}
