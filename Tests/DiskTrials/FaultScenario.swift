import CoreData
import Foundation

/// Work that ends in one transaction. Afterwards the store has its contents from before or after it.
struct FaultScenario {
    enum Beginning {
        case nothing
        case store
        /// A store whose writer was killed. Its last save is only in the write-ahead log.
        case killed
    }

    let name: String
    var beginning = Beginning.store
    var isSecond = false
    var pragmas: [String: String] = [:]
    /// Changes in memory. May be repeated after an error.
    var change: (Stack) throws -> Void = { _ in }
    /// Writes to the store. Repeated after an error.
    var commit: (Stack) throws -> Void = { stack in try stack.context.save() }
    /// Replaces `change` and `commit`; gets the store's URL.
    var alone: ((URL) throws -> Void)?

    static func all() -> [FaultScenario] {
        [
            FaultScenario(name: "create", beginning: .nothing, commit: { _ in }),
            FaultScenario(
                name: "insert",
                change: { stack in
                    stack.makeTeam("new", players: 3, pictureSize: 104_000, seed: 9)
                    stack.make("Tag", "new").setValue(Set(try stack.all("Team")), forKey: "teams")
                }),
            FaultScenario(name: "update", change: update),
            FaultScenario(name: "update, synced", pragmas: ["synchronous": "FULL"], change: update),
            FaultScenario(
                name: "update with checkpoints", pragmas: ["wal_autocheckpoint": "2", "cache_size": "10"],
                change: update),
            FaultScenario(name: "update with a journal", pragmas: ["journal_mode": "DELETE"], change: update),
            FaultScenario(name: "update after a kill", beginning: .killed, change: update),
            FaultScenario(name: "delete", change: { stack in stack.context.delete(try stack.all("Team")[0]) }),
            FaultScenario(
                name: "batch insert",
                commit: { stack in
                    let objects = (0..<5).map { ["name": "batch \($0)", "goals": $0] as [String: Any] }
                    try stack.context.execute(NSBatchInsertRequest(entityName: "Player", objects: objects))
                }),
            FaultScenario(
                name: "batch update",
                commit: { stack in
                    let request = NSBatchUpdateRequest(entityName: "Player")
                    request.propertiesToUpdate = ["goals": 77]
                    try stack.context.execute(request)
                }),
            FaultScenario(
                name: "batch delete",
                commit: { stack in
                    let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Team")
                    fetch.predicate = NSPredicate(format: "name == 'team 1'")
                    try stack.context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
                }),
            FaultScenario(
                name: "remove history",
                commit: { stack in
                    try stack.context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date()))
                }),
            FaultScenario(name: "migrate", isSecond: true, commit: { _ in }),
            FaultScenario(name: "migrate after a kill", beginning: .killed, isSecond: true, commit: { _ in }),
            FaultScenario(name: "read", change: read, commit: { _ in }),
            FaultScenario(name: "read after a kill", beginning: .killed, change: read, commit: { _ in }),
            FaultScenario(
                name: "destroy",
                alone: { url in
                    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TrialModel.first)
                    try coordinator.destroyPersistentStore(at: url, type: .sqlite)
                }),
        ]
    }

    private static func update(_ stack: Stack) throws {
        let teams = try stack.all("Team")
        teams[0].setValue(TrialModel.picture(110_000, seed: 77), forKey: "picture")
        teams[1].setValue(4321, forKey: "number")
        let players = teams[1].value(forKey: "players") as? Set<NSManagedObject> ?? []
        for player in players { player.setValue(teams[2], forKey: "team") }
    }

    /// Reads everything. Either all values are right or the context reports unread faults.
    private static func read(_ stack: Stack) throws {
        let before = UnreadCount.shared.count
        let names = try stack.all("Team").map { $0.value(forKey: "name") as? String ?? "nil" }
        let goals = try stack.all("Player").map { $0.value(forKey: "goals") as? Int ?? -1 }
        let pictures = try stack.all("Team").map { ($0.value(forKey: "picture") as? Data)?.count ?? 0 }
        let wrong = try stack.check()
        guard UnreadCount.shared.count == before else {
            stack.context.reset()
            throw CocoaError(.fileReadUnknown)
        }
        if let wrong { throw Wrong(wrong) }
        guard names == ["team 0", "team 1", "team 2", "team 3"] else { throw Wrong("read the teams \(names)") }
        guard goals.count == 9 && !goals.contains(-1) else { throw Wrong("read the goals \(goals)") }
        guard pictures == [104_000, 300, 0, 105_000] else { throw Wrong("read pictures of \(pictures) bytes") }
    }

    /// Makes the stores for `Beginning`.
    static func makeTemplates(_ folders: TrialFolders) throws {
        try folders.empty(folders.template)
        let live = folders.template.appendingPathComponent("live", isDirectory: true)
        for beginning in ["store", "killed", "live"] {
            try folders.empty(folders.template.appendingPathComponent(beginning, isDirectory: true))
        }
        let stack = try Stack(live.appendingPathComponent("Store.sqlite"), TrialModel.first, pragmas: [:])
        try stack.context.performAndWait {
            for (number, size) in [104_000, 300, 0, 105_000].enumerated() {
                let team = stack.makeTeam("team \(number)", players: [2, 3, 0, 4][number], pictureSize: size, seed: 5)
                team.setValue(number, forKey: "number")
                if number < 2 { stack.make("Tag", "tag \(number)").setValue(Set([team]), forKey: "teams") }
            }
            try stack.context.save()
        }
        try copy(live, to: folders.template.appendingPathComponent("killed"), withIndex: false)
        try stack.close()
        try copy(live, to: folders.template.appendingPathComponent("store"), withIndex: false)
    }

    /// Copies a folder as a killed program would leave it.
    static func copy(_ folder: URL, to other: URL, withIndex: Bool) throws {
        try? FileManager.default.removeItem(at: other)
        try FileManager.default.copyItem(at: folder, to: other)
        if !withIndex {
            try? FileManager.default.removeItem(at: other.appendingPathComponent("Store.sqlite-shm"))
        }
    }
}

/// Counts the faults that contexts report as unreadable.
// SAFETY: The trials run on one thread at a time and wait for the work of queues.
final class UnreadCount: @unchecked Sendable {
    static let shared = UnreadCount()
    private(set) var count = 0

    private init() {
        _ = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidFailToFulfillFault, object: nil, queue: nil
        ) { [weak self] _ in self?.count += 1 }
    }
}
