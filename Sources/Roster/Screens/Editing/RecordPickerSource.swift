import CoreData
import Foundation
import TerminalKit
import Translation

/// The records of an entity by name, for a picker. Reads them in pages, and searches long lists in the background.
final class RecordPickerSource: PickerSource {
    private let entity: NSEntityDescription
    private let label: NSAttributeDescription?
    private let session: StoreSession
    private let chosen: Set<NSManagedObject>
    private let condition: NSPredicate?
    private var objects: [NSManagedObject] = []
    /// The typed text.
    private(set) var text = ""
    /// True if the last item creates a new record.
    var offersNew = false
    private var reading: Job<[NSManagedObject]>?
    /// Called when the screen has to be redrawn.
    private let onDisplay: () -> Void
    var onRead: () -> Void = {}

    /// - Parameters:
    ///   - chosen: the records to mark as chosen.
    ///   - condition: the records to offer; `nil` for all.
    ///   - onDisplay: called when a background search has found records.
    init(
        entity: NSEntityDescription, session: StoreSession, chosen: Set<NSManagedObject>,
        among condition: NSPredicate? = nil, onDisplay: @escaping () -> Void
    ) {
        self.condition = condition
        self.entity = entity
        self.session = session
        self.chosen = chosen
        self.onDisplay = onDisplay
        label = EntityDisplay.label(of: entity)
        filter("")
    }

    var count: Int { objects.count + (offersNew ? 1 : 0) }

    /// True if the item creates a new record.
    func isNew(_ index: Int) -> Bool { index == objects.count }

    /// The initial position: the chosen record if there is exactly one.
    var firstChosen: Int { chosen.count == 1 ? objects.firstIndex { chosen.contains($0) } ?? 0 : 0 }

    var isReading: Bool { reading != nil }

    var placeAfterReading: Int { text.isEmpty ? firstChosen : 0 }

    func object(at index: Int) -> NSManagedObject { objects[index] }

    func text(at index: Int) -> String {
        guard isNew(index) else { return RecordName.text(objects[index]) }
        return sentence("+ new \(entity.name ?? "record")") + (text.isEmpty ? "" : " “\(text)”")
    }

    func detail(at index: Int) -> String {
        !isNew(index) && chosen.contains(objects[index]) ? tr("chosen") : ""
    }

    func filter(_ text: String) {
        self.text = text
        reading = nil
        if session.isLong(entity) {
            read()
        } else {
            objects = (try? session.context.fetch(request)) ?? []
        }
    }

    private var request: NSFetchRequest<NSManagedObject> {
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
        return request
    }

    /// Searches in the background. The previous records stay until then.
    private func read() {
        reading = Job { [request, context = session.context] in
            // Wait for more letters, to search once for several.
            try await Task.sleep(for: .milliseconds(40))
            return try await context.fetchAsynchronously(request)
        } then: { [unowned self] result in
            reading = nil
            objects = (try? result.get()) ?? []
            onRead()
            onDisplay()
        }
    }
}
