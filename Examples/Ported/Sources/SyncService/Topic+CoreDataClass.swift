//
//  Topic+CoreDataClass.swift
//  SyncService
//

import Foundation
import CoreData

public class Topic: NSManagedObject {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Topic> {
        return NSFetchRequest<Topic>(entityName: "Topic")
    }

}

extension Topic {

    @Managed public var name: String
    @Managed public var articles: NSSet?

}
