import CoreData
import Foundation
import RosterCommands

// A store whose file another program moved, replaced or deleted while it was open: what is known of it, and how it goes on.
extension StoreSession {
    private var stores: [NSPersistentStore] { container.persistentStoreCoordinator.persistentStores }

    /// Why nothing can be written to the store's file; `nil` where it is in its place.
    var fileProblem: (any Error)? {
        do {
            for store in stores { try container.persistentStoreCoordinator.checkFile(of: store) }
            return nil
        } catch {
            return error
        }
    }

    /// Where the store's file was moved; `nil` where it is not known, or is gone.
    var movedURL: URL? {
        guard let store = stores.first, let place = container.persistentStoreCoordinator.fileURL(of: store),
            place.path != url.path
        else { return nil }
        return place
    }

    /// Goes on with the file at `newURL`, which is the store, moved.
    ///
    /// - Throws: ``CommandError`` where it cannot be opened there.
    func follow(to newURL: URL) throws {
        guard let store = stores.first, container.persistentStoreCoordinator.setURL(newURL, for: store) else {
            throw CommandError.failure("the store cannot be opened at \(newURL.path); it is as it was")
        }
        url = newURL
    }

    /// Copies the store as it is open to `newURL`, where nothing stands, and goes on there.
    func goOnAsCopy(at newURL: URL) throws {
        guard let store = stores.first else { return }
        try container.persistentStoreCoordinator.copyContents(of: store, to: newURL)
        try follow(to: newURL)
    }
}
