//
//  ChoreList.swift
//  Chores
//

import CoreData
import os

/// Receives the changes of a list. There is no key-value observation: views ask the list.
public protocol ChoreListObserver: AnyObject {
    func choreList(_ list: ChoreList, didChange chores: Set<Chore>)
}

/// The chores of a household.
public final class ChoreList {

    private struct WeakObserver {
        weak var value: ChoreListObserver?
    }

    private let container: NSPersistentContainer
    private let signposter = OSSignposter(subsystem: "org.example.household", category: .pointsOfInterest)
    private let observers = OSAllocatedUnfairLock<[WeakObserver]>(uncheckedState: [])
    private var token: NSObjectProtocol?

    public var context: NSManagedObjectContext { container.viewContext }

    public init(storeURL: URL? = nil) throws {
        container = NSPersistentContainer(name: "Chores", managedObjectModel: try Self.model.get())
        let description = NSPersistentStoreDescription(url: storeURL ?? URL(fileURLWithPath: "/dev/null"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var failure: Error?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: container.viewContext, queue: nil
        ) { [weak self] notification in
            self?.contextDidChange(notification)
        }
    }

    deinit {
        if let token { NotificationCenter.default.removeObserver(token) }
    }

    private static let model = Result<NSManagedObjectModel, Error> {
        let bundle = Bundle(for: ChoreList.self)
        guard let url = bundle.url(forResource: "Chores", withExtension: "momd"),
              let model = NSManagedObjectModel(contentsOf: url) else { throw CocoaError(.fileReadNoSuchFile) }
        return model
    }

    public func add(_ observer: ChoreListObserver) {
        observers.withLockUnchecked { $0.append(WeakObserver(value: observer)) }
    }

    private func contextDidChange(_ notification: Notification) {
        let keys = [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey, NSDeletedObjectsKey]
        let objects = keys.compactMap { notification.userInfo?[$0] as? Set<NSManagedObject> }.joined()
        let chores = Set(objects.compactMap { $0 as? Chore })
        guard !chores.isEmpty else { return }
        signposter.emitEvent("Chores changed", "\(chores.count) chores")
        let current = observers.withLockUnchecked { all -> [ChoreListObserver] in
            all.removeAll { $0.value == nil }
            return all.compactMap(\.value)
        }
        for observer in current { observer.choreList(self, didChange: chores) }
    }

    @discardableResult
    public func add(_ title: String, due: Date? = nil, for name: String? = nil) throws -> Chore {
        let state = signposter.beginInterval("Add", id: signposter.makeSignpostID())
        defer { signposter.endInterval("Add", state) }
        let chore = Chore(context: context)
        chore.title = title
        chore.dueDate = due
        if let name = name { chore.assignee = try person(named: name) }
        try context.save()
        return chore
    }

    /// Marks chores as done, in the store.
    public func finishAll(before date: Date) throws -> Int {
        let request = NSBatchUpdateRequest(entityName: "Chore")
        request.predicate = NSPredicate(format: "isDone == NO AND dueDate < %@", date as NSDate)
        request.propertiesToUpdate = [#keyPath(Chore.isDone): true]
        request.resultType = .updatedObjectIDsResultType
        let result = try context.execute(request) as? NSBatchUpdateResult
        let objectIDs = result?.result as? [NSManagedObjectID] ?? []
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: objectIDs], into: [context])
        return objectIDs.count
    }

    /// The number of open chores by person.
    public func openChores() throws -> [String: Int] {
        let count = NSExpressionDescription()
        count.name = "count"
        count.expression = NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: #keyPath(Chore.title))])
        count.expressionResultType = .integer64AttributeType
        let request = NSFetchRequest<NSDictionary>(entityName: "Chore")
        request.predicate = NSPredicate(format: "%K == NO AND assignee != nil", #keyPath(Chore.isDone))
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = [#keyPath(Chore.assignee.name)]
        request.propertiesToFetch = [#keyPath(Chore.assignee.name), count]
        let rows = try context.fetch(request) as! [[String: Any]]
        return Dictionary(uniqueKeysWithValues: rows.map { ($0["assignee.name"] as! String, $0["count"] as! Int) })
    }

    private func person(named name: String) throws -> Person {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == %@", name)
        if let person = try context.fetch(request).first { return person }
        let person = Person(context: context)
        person.name = name
        return person
    }
}
