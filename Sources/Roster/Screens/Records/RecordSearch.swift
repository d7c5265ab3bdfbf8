import CoreData
import Foundation
import TerminalKit

/// Finds the rows of a list in which a text stands, without reading the rows: the store looks for them.
///
/// The matches come as IDs in the list's order, so the next one after the cursor is found by halving; of however many
/// matches only a few become objects.
struct RecordSearch {
    let text: String
    private let list: RecordList
    private let matches: [NSManagedObjectID]

    var count: Int { matches.count }

    /// Asks the store for the matching records: text attributes and the names of related records are looked at,
    /// regardless of case and diacritics.
    init(_ text: String, in list: RecordList) throws {
        self.text = text
        self.list = list
        guard !text.isEmpty, let predicate = Self.predicate(for: text, entity: list.display.entity) else {
            matches = []
            return
        }
        let request = NSFetchRequest<NSManagedObjectID>()
        request.resultType = .managedObjectIDResultType
        request.entity = list.display.entity
        request.predicate = NSCompoundPredicate(
            andPredicateWithSubpredicates: [list.controller.fetchRequest.predicate, predicate].compactMap { $0 })
        request.sortDescriptors = list.settings.descriptors
        matches = try list.controller.managedObjectContext.fetch(request)
    }

    private static func predicate(for text: String, entity: NSEntityDescription) -> NSPredicate? {
        var parts: [NSPredicate] = []
        for property in entity.properties where !property.isTransient {
            if let attribute = property as? NSAttributeDescription {
                if attribute.attributeType == .stringAttributeType {
                    parts.append(NSPredicate(format: "%K CONTAINS[cd] %@", attribute.name, text))
                }
            } else if let relationship = property as? NSRelationshipDescription, !relationship.isToMany,
                let label = relationship.destinationEntity.flatMap({ EntityDisplay.label(of: $0) })
            {
                parts.append(NSPredicate(format: "%K CONTAINS[cd] %@", "\(relationship.name).\(label.name)", text))
            }
        }
        return parts.isEmpty ? nil : NSCompoundPredicate(orPredicateWithSubpredicates: parts)
    }

    /// The nearest match after a row (or at it, when `includingStart`), going round at the end.
    func next(after start: ListPath?, includingStart: Bool) -> ListPath? {
        guard count > 0 else { return nil }
        guard let start else { return path(0) }
        let index = firstIndex { includingStart ? $0 >= start : $0 > start }
        return path(index) ?? path(0)
    }

    /// The nearest match before a row, going round at the beginning.
    func previous(before start: ListPath?) -> ListPath? {
        guard count > 0 else { return nil }
        guard let start else { return path(count - 1) }
        let index = firstIndex { $0 >= start }
        return path(index - 1) ?? path(count - 1)
    }

    private func path(_ index: Int) -> ListPath? {
        guard matches.indices.contains(index) else { return nil }
        return list.path(of: list.controller.managedObjectContext.object(with: matches[index]))
    }

    /// The first match whose row satisfies a condition that holds from some row on.
    private func firstIndex(where condition: (ListPath) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            // A record that left the list meanwhile counts as before: its neighbours decide.
            if let path = path(middle), condition(path) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
