import Foundation
import Testing

@testable import CoreData

/// A list whose predicate reads a relationship reports the same changes of a row, whichever end of the relationship was
/// changed and in which context.
@Suite struct RelationPredicateTests {
    /// A relationship of `Item` and its inverse.
    enum Relation: String, CaseIterable {
        case one, parts, tags, steps

        var inverse: String { rawValue + "Of" }
        var isToMany: Bool { self != .one }
        var isInverseToMany: Bool { self != .parts }
    }

    enum Side: CaseIterable { case own, inverse }

    /// The place of the change.
    enum Place: CaseIterable { case sameContext, otherContext, otherCoordinator }

    /// Use of the relationship in the predicate.
    enum Question: CaseIterable { case none, any, isIn, contains, subquery, count }

    struct Case: CustomStringConvertible {
        let relation: Relation, side: Side, place: Place, question: Question

        var description: String { "\(relation) \(side) \(place) \(question)" }

        static var all: [Case] {
            Relation.allCases.flatMap { relation in
                Side.allCases.flatMap { side in
                    Place.allCases.flatMap { place in
                        Question.allCases.filter { relation.isToMany || [.none, .any].contains($0) }
                            .map { Case(relation: relation, side: side, place: place, question: $0) }
                    }
                }
            }
        }

        /// - Parameter tag: the object in the list's context.
        func predicate(_ tag: NSManagedObject) -> NSPredicate? {
            let name = relation.rawValue
            return switch question {
            case .none: nil
            case .any: NSPredicate(format: relation.isToMany ? "ANY %K == %@" : "%K == %@", name, tag)
            case .isIn: NSPredicate(format: "%@ IN %K", tag, name)
            case .contains: NSPredicate(format: "%K CONTAINS %@", name, tag)
            case .subquery: NSPredicate(format: "SUBQUERY(\(name), $x, $x == %@).@count > 0", tag)
            case .count: NSPredicate(format: "\(name).@count > 0")
            }
        }
    }

    /// Every fifth case; all with `ROSTER_LONG_TESTS`.
    @Test func rowsWithChangedRelationshipsAreReported() throws {
        var wrong: [String] = []
        let step = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"] == nil ? 5 : 1
        for test in stride(from: 0, to: Case.all.count, by: step).map({ Case.all[$0] }) {
            for keepsRow in [true, false] where keepsRow || test.question != .none {
                for holdsRows in [true, false] where holdsRows || test.place != .sameContext {
                    let told = try Self.told(test, holdsRows: holdsRows, keepsRow: keepsRow)
                    let expected =
                        keepsRow ? [["update b"], ["update b"]] : [["insert b"], ["delete b"]]
                    if told != expected { wrong.append("\(test) holds \(holdsRows) keeps \(keepsRow): \(told)") }
                }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.joined(separator: "\n"))")
    }

    /// The reported changes when a tag is added to the row `b` and when it is removed.
    ///
    /// - Parameters:
    ///   - holdsRows: true to retain the objects in the list's context.
    ///   - keepsRow: true for a predicate that includes the row in any case.
    private static func told(_ test: Case, holdsRows: Bool, keepsRow: Bool) throws -> [[String]] {
        let world = try World()
        let ids = try world.fill()
        let context = world.context()
        return try context.performAndWait {
            context.retainsRegisteredObjects = holdsRows
            let tag = context.object(with: ids.tag)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let asked = test.predicate(tag)
            request.predicate =
                keepsRow
                ? asked.map {
                    NSCompoundPredicate(orPredicateWithSubpredicates: [$0, NSPredicate(format: "name != ''")])
                } : asked
            let list = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let teller = Teller()
            list.delegate = teller
            try list.performFetch()
            if holdsRows { for object in list.fetchedObjects ?? [] { _ = object.value(forKey: "name") } }
            var told: [[String]] = []
            for adds in [true, false] {
                teller.told = []
                try world.change(test, adds, ids, in: context)
                told.append(teller.told.sorted())
                let shown = (list.fetchedObjects ?? []).map(\.objectID)
                if try shown != context.fetch(request).map(\.objectID) { told.append(["not as fetched"]) }
            }
            return told
        }
    }

    /// A batch's result contains only the members, not the rows they belong to.
    @Test func aBatchThatAddsAMemberIsFollowed() throws {
        let world = try World()
        let ids = try world.fill()
        let context = world.context()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            request.predicate = NSPredicate(format: "parts.@count > 0")
            let list = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let teller = Teller()
            list.delegate = teller
            try list.performFetch()
            let update = NSBatchUpdateRequest(entityName: "Tag")
            update.propertiesToUpdate = ["partsOf": NSExpression(forConstantValue: ids.item)]
            update.resultType = .updatedObjectIDsResultType
            let result = try context.execute(update) as? NSBatchUpdateResult
            let changed = try #require(result?.result as? [NSManagedObjectID])
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectIDsKey: changed], into: [context])
            #expect(teller.told == ["insert b"])
            let fresh = try context.fetch(request).map(\.objectID)
            #expect((list.fetchedObjects ?? []).map(\.objectID) == fresh)
        }
    }

    private final class Teller: NSObject, NSFetchedResultsControllerDelegate {
        var told: [String] = []

        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            told.append("\(type) \((anObject as? NSManagedObject)?.value(forKey: "name") ?? "-")")
        }
    }

    private final class World {
        let folder: URL
        let coordinator: NSPersistentStoreCoordinator
        /// The coordinator in the role of another process.
        private lazy var foreign = Result { try Self.coordinator(folder) }

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("relations-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            coordinator = try Self.coordinator(folder)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        static func coordinator(_ folder: URL) throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.appendingPathComponent("s.sqlite"),
                options: [
                    NSPersistentHistoryTrackingKey: true as NSNumber, NSSQLitePragmasOption: ["synchronous": "OFF"],
                ])
            return coordinator
        }

        private static let model: NSManagedObjectModel = {
            let item = Club.entity("Item", [Club.attribute("name", .stringAttributeType)])
            let tag = Club.entity("Tag", [Club.attribute("name", .stringAttributeType)])
            for relation in Relation.allCases {
                let made = Club.relate(
                    item, relation.rawValue, many: relation.isToMany, .nullifyDeleteRule, tag, relation.inverse,
                    many: relation.isInverseToMany)
                made.isOrdered = relation == .steps
            }
            let model = NSManagedObjectModel()
            model.entities = [item, tag]
            return model
        }()

        func context(_ other: NSPersistentStoreCoordinator? = nil) -> NSManagedObjectContext {
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = other ?? coordinator
            return context
        }

        private static func value(_ tag: NSManagedObject, of relation: Relation) -> Any {
            switch relation {
            case .one: tag
            case .steps: NSOrderedSet(object: tag)
            default: Set([tag])
            }
        }

        struct IDs {
            let item: NSManagedObjectID, tag: NSManagedObjectID
        }

        func fill() throws -> IDs {
            let context = context()
            return try context.performAndWait {
                func make(_ entity: String, _ name: String) -> NSManagedObject {
                    let made = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                    made.setValue(name, forKey: "name")
                    return made
                }
                let items = ["a", "b", "c"].map { make("Item", $0) }
                let tag = make("Tag", "t")
                // Only the other end of this row's relationship changes.
                for relation in Relation.allCases where relation.isInverseToMany {
                    items[0].setValue(Self.value(tag, of: relation), forKey: relation.rawValue)
                }
                try context.save()
                return IDs(item: items[1].objectID, tag: tag.objectID)
            }
        }

        /// Adds the tag to the row or removes it.
        func change(_ test: Case, _ adds: Bool, _ ids: IDs, in list: NSManagedObjectContext) throws {
            switch test.place {
            case .sameContext:
                change(test, adds, list.object(with: ids.item), list.object(with: ids.tag))
                list.processPendingChanges()
                try list.save()
            case .otherContext:
                let other = context()
                try other.performAndWait {
                    change(test, adds, other.object(with: ids.item), other.object(with: ids.tag))
                    let saved = Saved(other)
                    try other.save()
                    list.mergeChanges(fromContextDidSave: try #require(saved.notification))
                }
            case .otherCoordinator:
                let before = coordinator.currentPersistentHistoryToken(fromStores: nil)
                let foreign = try foreign.get()
                let other = context(foreign)
                try other.performAndWait {
                    func object(_ id: NSManagedObjectID) throws -> NSManagedObject {
                        let uri = id.uriRepresentation()
                        return other.object(with: try #require(foreign.managedObjectID(forURIRepresentation: uri)))
                    }
                    change(test, adds, try object(ids.item), try object(ids.tag))
                    try other.save()
                }
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: before)
                let result = try list.execute(request) as? NSPersistentHistoryResult
                for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
                    list.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
                }
            }
        }

        private func change(_ test: Case, _ adds: Bool, _ item: NSManagedObject, _ tag: NSManagedObject) {
            func set(
                _ object: NSManagedObject, _ key: String, _ isToMany: Bool, _ isOrdered: Bool, to other: NSManagedObject
            ) {
                guard isToMany else { return object.setValue(adds ? other : nil, forKey: key) }
                if isOrdered {
                    let members = object.mutableOrderedSetValue(forKey: key)
                    if adds { members.add(other) } else { members.remove(other) }
                } else {
                    let members = object.mutableSetValue(forKey: key)
                    if adds { members.add(other) } else { members.remove(other) }
                }
            }
            switch test.side {
            case .own: set(item, test.relation.rawValue, test.relation.isToMany, test.relation == .steps, to: tag)
            case .inverse: set(tag, test.relation.inverse, test.relation.isInverseToMany, false, to: item)
            }
        }
    }

    private final class Saved {
        private(set) var notification: Notification?
        private var observer: (any NSObjectProtocol)?

        init(_ context: NSManagedObjectContext) {
            let weakSelf = UncheckedSendable(WeakSaved(saved: self))
            observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: context, queue: nil
            ) { note in
                weakSelf.value.saved?.notification = note
            }
        }

        private struct WeakSaved {
            weak var saved: Saved?
        }

        deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }
    }
}
