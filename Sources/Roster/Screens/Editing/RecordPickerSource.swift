import CoreData
import Foundation
import TerminalKit

/// The records of an entity to pick one from, by name. Only a page of them is read at a time.
final class RecordPickerSource: PickerSource {
    private let entity: NSEntityDescription
    private let label: NSAttributeDescription?
    private let context: NSManagedObjectContext
    private let chosen: Set<NSManagedObject>
    private var objects: [NSManagedObject] = []

    /// - Parameter chosen: the records that are marked as chosen already.
    init(entity: NSEntityDescription, context: NSManagedObjectContext, chosen: Set<NSManagedObject>) {
        self.entity = entity
        self.context = context
        self.chosen = chosen
        label = EntityDisplay.label(of: entity)
        filter("")
    }

    var count: Int { objects.count }

    /// Where the picker begins: at the record that is chosen, when it is one.
    var firstChosen: Int { chosen.count == 1 ? objects.firstIndex { chosen.contains($0) } ?? 0 : 0 }

    func object(at index: Int) -> NSManagedObject { objects[index] }

    func text(at index: Int) -> String { RecordName.text(objects[index]) }

    func detail(at index: Int) -> String { chosen.contains(objects[index]) ? "chosen" : "" }

    func filter(_ text: String) {
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        request.fetchBatchSize = 128
        if let label {
            request.sortDescriptors = [NSSortDescriptor(key: label.name, ascending: true)]
            if !text.isEmpty { request.predicate = NSPredicate(format: "%K CONTAINS[cd] %@", label.name, text) }
        }
        objects = (try? context.fetch(request)) ?? []
    }
}
