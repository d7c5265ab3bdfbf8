import Foundation

@testable import CoreData

/// A delegate that records its events, replays them like a table view, and reports violated rules of the controller.
final class Recorder: NSObject, NSFetchedResultsControllerDelegate {
    /// `will 3`, `section insert 1 S`, `insert Bob -→0,1`, `did 4`; the numbers are the counts of objects.
    private(set) var events: [String] = []
    /// Violated rules.
    private(set) var violations: [String] = []
    private(set) var batches = 0
    /// True if sections may be empty, because empty ones are kept.
    var mayHaveEmptySections = false
    /// Called in each callback of that kind, after it was recorded.
    var inWill: (() -> Void)?
    var inObject: (() -> Void)?
    var inDid: (() -> Void)?

    private var replayed: [(name: String, rows: [ObjectIdentifier])] = []
    private var before: [(name: String, rows: [ObjectIdentifier])] = []
    private var isOpen = false
    private var reported: Set<ObjectIdentifier> = []
    private var moves = 0
    private var leaving: [IndexPath] = []
    private var arriving: [(path: IndexPath, object: ObjectIdentifier)] = []
    private var goneSections: [Int] = []
    private var newSections: [(index: Int, name: String)] = []

    func clear() {
        events = []
        batches = 0
    }

    /// The events without will and did.
    var changes: [String] { events.filter { !$0.hasPrefix("will") && !$0.hasPrefix("did") } }

    /// Stores the contents that a view would show, and the controller. Objects are identified by address, so the
    /// context must keep them.
    func load(_ controller: NSFetchedResultsController<NSManagedObject>) {
        controller.managedObjectContext.retainsRegisteredObjects = true
        replayed = Self.state(controller.sections)
        kept = controller
    }

    private var kept: AnyObject?

    private static func state(_ sections: [any NSFetchedResultsSectionInfo]?) -> [(
        name: String, rows: [ObjectIdentifier]
    )] {
        (sections ?? []).map { ($0.name, ($0.objects ?? []).map { ObjectIdentifier($0 as AnyObject) }) }
    }

    private func count(_ controller: NSFetchedResultsController<NSFetchRequestResult>) -> Int {
        (controller.sections ?? []).reduce(0) { $0 + $1.numberOfObjects }
    }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        if isOpen { violations.append("a bracket inside another") }
        isOpen = true
        batches += 1
        before = Self.state(controller.sections)
        if !Self.isSame(before, replayed) { violations.append("will does not see the old contents") }
        (reported, leaving, arriving, goneSections, newSections, moves) = ([], [], [], [], [], 0)
        events.append("will \(count(controller))")
        inWill?()
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
        if !leaving.isEmpty || !arriving.isEmpty { violations.append("a section after an object") }
        events.append("section \(type) \(sectionIndex) \(sectionInfo.name)")
        if type == .delete {
            goneSections.append(sectionIndex)
            if before[sectionIndex].name != sectionInfo.name { violations.append("a section went at another's index") }
            return
        }
        newSections.append((sectionIndex, sectionInfo.name))
        if sectionInfo.numberOfObjects == 0, !mayHaveEmptySections {
            violations.append("a new section has no objects yet")
        }
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        let object = anObject as? NSManagedObject
        let name = object?.isDeleted == true ? "gone" : object?.value(forKey: "name") as? String ?? "-"
        func text(_ path: IndexPath?) -> String { path.map { "\($0.section),\($0.row)" } ?? "-" }
        events.append("\(type) \(name) \(text(indexPath))→\(text(newIndexPath))")
        let identity = ObjectIdentifier(anObject as AnyObject)
        if !reported.insert(identity).inserted { violations.append("\(name) was reported twice") }
        if let newIndexPath, controller.object(at: newIndexPath) !== anObject as AnyObject {
            violations.append("the new path of \(name) is not valid yet")
        }
        if let indexPath, before[indexPath.section].rows[indexPath.row] != identity {
            violations.append("the old path of \(name) is not where it was")
        }
        if type == .move { moves += 1 }
        if type == .delete || type == .move, let indexPath { leaving.append(indexPath) }
        if type == .insert || type == .move, let newIndexPath { arriving.append((newIndexPath, identity)) }
        inObject?()
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        events.append("did \(count(controller))")
        let isOneMove = moves == 1 && leaving.count == 1 && arriving.count == 1
        if isOneMove, leaving[0] == arriving[0].path, newSections.isEmpty, goneSections.isEmpty {
            violations.append("an object moved to where it was")
        }
        replay()
        let now = Self.state(controller.sections)
        if !Self.isSame(replayed, now) { violations.append("replaying gives other contents") }
        replayed = now
        isOpen = false
        inDid?()
    }

    /// Replays as a table view does: deletes by descending old path, section deletes, section inserts, inserts by
    /// ascending new path.
    private func replay() {
        for path in leaving.sorted(by: >) { replayed[path.section].rows.remove(at: path.row) }
        for index in goneSections.sorted(by: >) {
            if !replayed[index].rows.isEmpty { violations.append("a section went with rows in it") }
            replayed.remove(at: index)
        }
        for section in newSections.sorted(by: { $0.index < $1.index }) {
            replayed.insert((section.name, []), at: section.index)
        }
        for (path, object) in arriving.sorted(by: { $0.path < $1.path }) {
            guard path.section < replayed.count, path.row <= replayed[path.section].rows.count else {
                violations.append("an insertion past the end")
                continue
            }
            replayed[path.section].rows.insert(object, at: path.row)
        }
    }

    private static func isSame(
        _ left: [(name: String, rows: [ObjectIdentifier])], _ right: [(name: String, rows: [ObjectIdentifier])]
    ) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { $0.name == $1.name && $0.rows == $1.rows }
    }
}

extension Staff {
    /// A fetched controller with a recorder as its delegate.
    func recorded(
        section: String? = "team", sort: [String] = ["team", "name"], where predicate: String? = nil
    ) throws -> (controller: NSFetchedResultsController<NSManagedObject>, recorder: Recorder) {
        let controller = controller(section: section, sort: sort, where: predicate)
        let recorder = Recorder()
        controller.delegate = recorder
        try controller.performFetch()
        recorder.load(controller)
        return (controller, recorder)
    }
}
