//
//  Chore.swift
//  Chores
//

import CoreData

@objc(Chore)
public class Chore: NSManagedObject {
    @NSManaged public var title: String
    @NSManaged public var isDone: Bool
    @NSManaged public var dueDate: Date?
    @NSManaged public var assignee: Person?
}

@objc(Person)
public class Person: NSManagedObject {
    @NSManaged public var name: String
    @NSManaged public var chores: NSSet?
}
