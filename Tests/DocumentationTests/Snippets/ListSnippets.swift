import CoreData
import Testing

/// The code of `ListsThatFollow.md`, compiled and run.
@MainActor @Suite struct ListSnippets {
    /// Prints the updates that a table view would make.
    final class ListPrinter: NSObject, NSFetchedResultsControllerDelegate {
        var lines: [String] = []

        func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
            lines.append("begin")
        }

        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>,
            didChange sectionInfo: any NSFetchedResultsSectionInfo,
            atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
        ) {
            lines.append("section \(sectionInfo.name) \(type == .insert ? "+" : "-")")
        }

        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            lines.append("row \(indexPath.map { "\($0)" } ?? "-") to \(newIndexPath.map { "\($0)" } ?? "-")")
        }

        func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
            lines.append("end")
        }
    }

    private func filled() throws -> NSPersistentContainer {
        let container = try NSPersistentContainer.open("Journal", at: URL(fileURLWithPath: "/dev/null"))
        for (title, month) in [("Lisbon", "May"), ("Porto", "May"), ("Faro", "June")] {
            let entry = Entry(context: container.viewContext)
            (entry.title, entry.month, entry.written) = (title, month, Date())
        }
        try container.viewContext.save()
        return container
    }

    @Test func aDelegateIsNotified() throws {
        let container = try filled()
        let request = Entry.fetchRequest()
        request.sortDescriptors = [
            NSSortDescriptor(key: "month", ascending: true), NSSortDescriptor(key: "title", ascending: true),
        ]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: container.viewContext, sectionNameKeyPath: "month",
            cacheName: nil)
        let printer = ListPrinter()
        controller.delegate = printer
        try controller.performFetch()
        for section in controller.sections ?? [] { print(section.name, section.numberOfObjects) }

        let entry = Entry(context: container.viewContext)
        (entry.title, entry.month, entry.written) = ("Évora", "July", Date())
        try container.viewContext.save()
        #expect(printer.lines.first == "begin" && printer.lines.last == "end")
        #expect(printer.lines.contains("section July +"))
        #expect(controller.sections?.map(\.name) == ["July", "June", "May"])
    }

    @Test func aStreamIsReadInATask() async throws {
        let container = try filled()
        let request = Entry.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: container.viewContext, sectionNameKeyPath: nil, cacheName: nil)
        try controller.performFetch()
        let changes = controller.changes
        let follower = Task {
            for await batch in changes {
                for change in batch.changes { print(change.type, change.indexPath ?? [], change.newIndexPath ?? []) }
                return batch.after.count
            }
            return 0
        }
        let entry = Entry(context: container.viewContext)
        (entry.title, entry.written) = ("Aveiro", Date())
        try container.viewContext.save()
        #expect(await follower.value == 4)
    }
}
