/// Restates `@unchecked Sendable` in subclasses of the framework's classes that are Sendable, as Swift demands.
enum SendableRule {
    private static let bases: Set<String> = [
        "NSAtomicStore", "NSAtomicStoreCacheNode", "NSIncrementalStore", "NSPersistentStore", "NSPersistentContainer",
        "NSPersistentCloudKitContainer", "NSPersistentStoreCoordinator", "NSManagedObjectContext",
        "NSManagedObjectModel", "NSMergePolicy", "NSMigrationManager", "NSSecureUnarchiveFromDataTransformer",
        "ValueTransformer",
    ]

    static func apply(to work: inout PortingWork) {
        let source = work.source
        for item in work.items.types() where work.isLive(item.keyword) && source.isToken(item.keyword, "class") {
            let header = TypeHeader(item, source)
            guard let base = work.facts.base(of: header.name, among: bases), !work.facts.declares(base),
                !header.inherited.contains("Sendable"), let body = item.body
            else { continue }
            let end = item.header.first { source.isToken($0, "where") } ?? body
            // SAFETY: text for the program's source; the superclass has the conformance already.
            work.insert(", @unchecked Sendable", at: source.tokens[end - 1].range.upperBound)
        }
    }
}
