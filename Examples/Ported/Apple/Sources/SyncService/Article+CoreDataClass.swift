//
//  Article+CoreDataClass.swift
//  SyncService
//

import Foundation
import CoreData

@objc(Article)
public class Article: NSManagedObject {

}
