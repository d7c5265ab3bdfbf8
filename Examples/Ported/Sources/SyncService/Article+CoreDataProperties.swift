//
//  Article+CoreDataProperties.swift
//  SyncService
//

import Foundation
import CoreData

extension Article {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Article> {
        return NSFetchRequest<Article>(entityName: "Article")
    }

    @Managed public var headline: String?
    @Managed public var isRead: Bool
    @Managed public var remoteID: String
    @Managed public var revision: Int64
    @Managed public var topics: Set<Topic>

}

// MARK: Generated accessors for topics
extension Article {

    @ManagedMethod public func addToTopics(_ value: Topic)

    @ManagedMethod public func removeFromTopics(_ value: Topic)

    @ManagedMethod public func addToTopics(_ values: NSSet)

    @ManagedMethod public func removeFromTopics(_ values: NSSet)

}

extension Article: Identifiable {

}
