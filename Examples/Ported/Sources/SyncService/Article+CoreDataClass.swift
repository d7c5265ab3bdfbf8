//
//  Article+CoreDataClass.swift
//  SyncService
//

import Foundation
import CoreData

public class Article: NSManagedObject {

}
