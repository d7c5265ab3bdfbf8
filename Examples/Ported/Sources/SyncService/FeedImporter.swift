// swift-format-ignore-file
//
//  FeedImporter.swift
//  SyncService
//

import CoreData
import Foundation
import os

private let logger = Logger(subsystem: "org.example.sync", category: "import")

/// An article as sent by the server.
public struct FeedItem: Codable {
    public var id: String
    public var headline: String
    public var revision: Int64
    public var topics: [String]

    public init(id: String, headline: String, revision: Int64, topics: [String] = []) {
        self.id = id
        self.headline = headline
        self.revision = revision
        self.topics = topics
    }
}

/// Saves received articles into the store. The agent does this in its own process.
public final class FeedImporter {

    private let store: SharedStore

    public init(store: SharedStore) {
        self.store = store
    }

    /// Inserts and updates articles. Of two revisions of an article the newer is kept.
    ///
    /// - Returns: The number of articles that changed.
    @discardableResult
    public func importFeed(_ data: Data) throws -> Int {
        let items = try JSONDecoder().decode([FeedItem].self, from: data)
        let context = store.newBackgroundContext()
        return try context.performAndWait {
            var topics: [String: Topic] = [:]
            for topic in try context.fetch(Topic.fetchRequest()) as [Topic] { topics[topic.name] = topic }
            let request: NSFetchRequest<Article> = Article.fetchRequest()
            request.predicate = NSPredicate(format: "%K IN %@", "remoteID", items.map { $0.id })
            var known: [String: Article] = [:]
            for article in try context.fetch(request) { known[article.remoteID] = article }
            var count = 0
            for item in items {
                let article = known[item.id] ?? Article(context: context)
                guard article.isInserted || article.revision < item.revision else { continue }
                article.remoteID = item.id
                article.headline = item.headline
                article.revision = item.revision
                for name in item.topics {
                    let topic = topics[name] ?? Topic(context: context)
                    topic.name = name
                    topics[name] = topic
                    article.addToTopics(topic)
                }
                known[item.id] = article
                count += 1
            }
            if context.hasChanges { try context.save() }
            logger.info("\(count) of \(items.count) articles changed")
            return count
        }
    }

    /// Deletes read articles older than a revision, directly in the store.
    @discardableResult
    public func removeReadArticles(before revision: Int64) throws -> Int {
        let context = store.newBackgroundContext()
        return try context.performAndWait {
            let request: NSFetchRequest<Article> = Article.fetchRequest()
            request.predicate = NSPredicate(
                format: "%K == YES AND %K < %lld", "isRead", "revision", revision)
            guard let erased = request.erased as NSFetchRequest<NSFetchRequestResult>? else { return 0 }
            let deletion = NSBatchDeleteRequest(fetchRequest: erased)
            deletion.resultType = .resultTypeCount
            let result = try context.execute(deletion) as! NSBatchDeleteResult
            return result.result as! Int
        }
    }
}
