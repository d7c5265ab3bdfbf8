//
//  SharedStore.swift
//  SyncService
//

import CoreData
import Foundation

/// The store shared by the app and its agent. Each process has one instance.
public final class SharedStore {

    /// The writer, which is the author of transactions in the history.
    public enum Author: String {
        case app
        case agent
    }

    public let container: NSPersistentContainer
    public let author: Author

    public init(url: URL, author: Author) throws {
        self.author = author
        container = NSPersistentContainer(name: "SyncService")
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.persistentStoreDescriptions = [description]
        var failure: Error?
        container.loadPersistentStores { _, error in failure = error }
        if let failure = failure { throw failure }
        container.viewContext.transactionAuthor = author.rawValue
        container.viewContext.mergePolicy = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    }

    /// A background context whose saves have the author.
    public func newBackgroundContext() -> NSManagedObjectContext {
        let context = container.newBackgroundContext()
        context.transactionAuthor = author.rawValue
        context.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        return context
    }

    public func articles(about topic: String? = nil) throws -> [Article] {
        let request: NSFetchRequest<Article> = Article.fetchRequest()
        if let topic = topic {
            request.predicate = NSPredicate(format: "ANY \(#keyPath(Article.topics)).name == %@", topic)
        }
        request.sortDescriptors = [
            NSSortDescriptor(
                key: #keyPath(Article.headline), ascending: true,
                selector: #selector(NSString.localizedStandardCompare(_:)))
        ]
        return try container.viewContext.fetch(request)
    }
}
