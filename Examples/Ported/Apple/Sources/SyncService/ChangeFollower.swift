//
//  ChangeFollower.swift
//  SyncService
//

import CoreData
import Foundation

/// Merges other processes' changes into the app's context, and stores its position in the history.
@objc public final class ChangeFollower: NSObject {

    private let store: SharedStore
    private let tokenURL: URL?
    private var observer: NSObjectProtocol?
    /// Called on the main queue with the objects that were merged.
    public var didMerge: (([NSManagedObjectID]) -> Void)?

    /// - Parameter tokenURL: File that keeps the position in the history between launches.
    public init(store: SharedStore, tokenURL: URL? = nil) {
        self.store = store
        self.tokenURL = tokenURL
        super.init()
    }

    deinit {
        stop()
    }

    public func start() {
        observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: store.container.persistentStoreCoordinator, queue: .main
        ) { [weak self] _ in
            _ = try? self?.mergeNewTransactions()
        }
    }

    public func stop() {
        if let observer = observer { NotificationCenter.default.removeObserver(observer) }
        observer = nil
    }

    /// Merges others' transactions since the last call.
    @discardableResult
    @objc public dynamic func mergeNewTransactions() throws -> Int {
        let context = store.newBackgroundContext()
        let token = self.token
        let transactions: [NSPersistentHistoryTransaction] = try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            if let fetch = NSPersistentHistoryTransaction.fetchRequest {
                fetch.predicate = NSPredicate(
                    format: "%K != %@", #keyPath(NSPersistentHistoryTransaction.author), store.author.rawValue)
                request.fetchRequest = fetch
            }
            let result = try context.execute(request) as? NSPersistentHistoryResult
            return result?.result as? [NSPersistentHistoryTransaction] ?? []
        }
        guard let last = transactions.last else { return 0 }
        let viewContext = store.container.viewContext
        var merged: [NSManagedObjectID] = []
        viewContext.performAndWait {
            for transaction in transactions {
                autoreleasepool {
                    viewContext.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
                    merged += transaction.changes?.map { $0.changedObjectID } ?? []
                }
            }
        }
        self.token = last.token
        didMerge?(merged)
        return transactions.count
    }

    /// Deletes the history before the last merge, which this process does not need any more.
    public func removeOldHistory() throws {
        guard let token = self.token else { return }
        let context = store.newBackgroundContext()
        try context.performAndWait {
            _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
        }
    }

    // MARK: The position in the history

    private var memory: NSPersistentHistoryToken?

    private var token: NSPersistentHistoryToken? {
        get {
            guard let tokenURL = tokenURL, let data = try? Data(contentsOf: tokenURL) else { return memory }
            return try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
        }
        set {
            memory = newValue
            guard let tokenURL = tokenURL, let token = newValue,
                let data = try? NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
            else { return }
            try? data.write(to: tokenURL, options: .atomic)
        }
    }
}
