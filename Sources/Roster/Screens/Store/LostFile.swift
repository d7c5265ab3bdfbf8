import CoreData
import Foundation
import RosterCommands

// Handling a store whose file another program moved, replaced or deleted while it was open.
extension StoreSession {
    private var stores: [NSPersistentStore] { container.persistentStoreCoordinator.persistentStores }

    /// The reason why the store's file cannot be written; `nil` if it is in place.
    var fileProblem: (any Error)? {
        do {
            for store in stores { try container.persistentStoreCoordinator.checkFile(of: store) }
            return nil
        } catch {
            return error
        }
    }

    /// The new URL of a moved file; `nil` if unknown.
    var movedURL: URL? {
        guard let store = stores.first, let place = container.persistentStoreCoordinator.fileURL(of: store),
            place.path != url.path
        else { return nil }
        return place
    }

    /// Continues with the moved file at `newURL`.
    ///
    /// - Throws: ``CommandError`` if the store cannot be opened there.
    func follow(to newURL: URL) throws {
        guard let store = stores.first, container.persistentStoreCoordinator.setURL(newURL, for: store) else {
            throw CommandError.failure("cannot open the store at \(newURL.path); nothing was changed")
        }
        url = newURL
    }

    /// Copies the open store to `newURL`, where no file exists, and continues there.
    func goOnAsCopy(at newURL: URL) throws {
        guard let store = stores.first else { return }
        try container.persistentStoreCoordinator.copyContents(of: store, to: newURL)
        try follow(to: newURL)
    }
}
