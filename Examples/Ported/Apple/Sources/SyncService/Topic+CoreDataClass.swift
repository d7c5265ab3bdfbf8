//
//  Topic+CoreDataClass.swift
//  SyncService
//

import Foundation
import CoreData

@objc(Topic)
public class Topic: NSManagedObject {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Topic> {
        return NSFetchRequest<Topic>(entityName: "Topic")
    }

}

extension Topic {

    @NSManaged public var name: String
    @NSManaged public var articles: NSSet?

}
