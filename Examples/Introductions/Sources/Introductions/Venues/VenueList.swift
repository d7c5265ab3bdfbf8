import CoreData

/// A list that loads its rows asynchronously, so the screen appears at once.
@MainActor final class VenueList {
    private let context: NSManagedObjectContext
    private var asyncFetchResult: NSPersistentStoreAsynchronousResult?
    private(set) var venues: [Venue] = []
    private(set) var lastError: (any Error)?
    /// Reloads the table view.
    var reloadData: () -> Void = {}

    init(context: NSManagedObjectContext) { self.context = context }

    func load() throws {
        let venueFetchRequest: NSFetchRequest<Venue> = Venue.fetchRequest()
        venueFetchRequest.sortDescriptors = [NSSortDescriptor(keyPath: \Venue.name, ascending: true)]
        let asyncFetchRequest = NSAsynchronousFetchRequest(fetchRequest: venueFetchRequest) { [weak self] result in
            // A cancelled load may end after the next one.
            guard let self, result === asyncFetchResult else { return }
            lastError = result.operationError
            guard let venues = result.finalResult else { return }
            self.venues = venues
            reloadData()
        }
        asyncFetchResult = try context.execute(asyncFetchRequest) as? NSPersistentStoreAsynchronousResult
    }

    func cancel() { asyncFetchResult?.cancel() }
}
