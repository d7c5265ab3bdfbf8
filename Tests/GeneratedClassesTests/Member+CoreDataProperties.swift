//
//  Member+CoreDataProperties.swift
//

public import CoreData

public class Member: NSManagedObject {

}

extension Member: Athlete {
    @Managed public var name: String?
    @Managed public var number: Int16
    @Managed public var rankedIn: Squad?
    @Managed public var squad: Squad?
    @Managed public var twin: SquadTwin?
}
