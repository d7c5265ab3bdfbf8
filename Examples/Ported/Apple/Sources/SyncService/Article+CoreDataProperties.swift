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

    @NSManaged public var headline: String?
    @NSManaged public var isRead: Bool
    @NSManaged public var remoteID: String
    @NSManaged public var revision: Int64
    @NSManaged public var topics: Set<Topic>

}

// MARK: Generated accessors for topics
extension Article {

    @objc(addTopicsObject:)
    @NSManaged public func addToTopics(_ value: Topic)

    @objc(removeTopicsObject:)
    @NSManaged public func removeFromTopics(_ value: Topic)

    @objc(addTopics:)
    @NSManaged public func addToTopics(_ values: NSSet)

    @objc(removeTopics:)
    @NSManaged public func removeFromTopics(_ values: NSSet)

}

extension Article: Identifiable {

}
