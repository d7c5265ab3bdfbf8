//
//  Chore.swift
//  Chores
//

import CoreData

public class Chore: NSManagedObject {
    @Managed public var title: String
    @Managed public var isDone: Bool
    @Managed public var dueDate: Date?
    @Managed public var assignee: Person?
}

public class Person: NSManagedObject {
    @Managed public var name: String
    @Managed public var chores: NSSet?
}
