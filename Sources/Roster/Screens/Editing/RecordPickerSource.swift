import CoreData
import Foundation
import TerminalKit

/// The records of an entity to pick one from, by name. Only a page of them is read at a time.
final class RecordPickerSource: PickerSource {
    private let entity: NSEntityDescription
    private let label: NSAttributeDescription?
    private let context: NSManagedObjectContext
    private let chosen: Set<NSManagedObject>
    private let condition: NSPredicate?
    private var objects: [NSManagedObject] = []
    /// What was typed.
    private(set) var text = ""
    /// Whether the last item makes a new record.
    var offersNew = false

    /// - Parameters:
    ///   - chosen: the records that are marked as chosen already.
    ///   - condition: which records there are to choose from; `nil` for all.
    init(
        entity: NSEntityDescription, context: NSManagedObjectContext, chosen: Set<NSManagedObject>,
        among condition: NSPredicate? = nil
    ) {
        self.condition = condition
        self.entity = entity
        self.context = context
        self.chosen = chosen
        label = EntityDisplay.label(of: entity)
        filter("")
    }

    var count: Int { objects.count + (offersNew ? 1 : 0) }

    /// Whether an item stands for a record that is still to be made.
    func isNew(_ index: Int) -> Bool { index == objects.count }

    /// Where the picker begins: at the record that is chosen, when it is one.
    var firstChosen: Int { chosen.count == 1 ? objects.firstIndex { chosen.contains($0) } ?? 0 : 0 }

    func object(at index: Int) -> NSManagedObject { objects[index] }

    func text(at index: Int) -> String {
        guard isNew(index) else { return RecordName.text(objects[index]) }
        return "+ new \(entity.name ?? "record")" + (text.isEmpty ? "" : " “\(text)”")
    }

    func detail(at index: Int) -> String {
        !isNew(index) && chosen.contains(objects[index]) ? "chosen" : ""
    }

    func filter(_ text: String) {
        self.text = text
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        request.fetchBatchSize = 128
        var conditions = condition.map { [$0] } ?? []
        if let label {
            request.sortDescriptors = [NSSortDescriptor(key: label.name, ascending: true)]
            if !text.isEmpty { conditions.append(NSPredicate(format: "%K CONTAINS[cd] %@", label.name, text)) }
        }
        if !conditions.isEmpty {
            request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: conditions)
        }
        objects = (try? context.fetch(request)) ?? []
    }
}
