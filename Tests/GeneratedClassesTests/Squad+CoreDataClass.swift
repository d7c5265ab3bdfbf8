//
//  Squad+CoreDataClass.swift
//

public import CoreData

public class Squad: NSManagedObject {
    /// A stored property outside of the model, with the name of a property wrapper's storage.
    var _name = "own"

    /// Hand-written accessors around the primitive value.
    var shoutedName: String? {
        get {
            willAccessValue(forKey: "name")
            defer { didAccessValue(forKey: "name") }
            return primitiveName?.uppercased()
        }
        set {
            willChangeValue(forKey: "name")
            primitiveName = newValue?.lowercased()
            didChangeValue(forKey: "name")
        }
    }

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        primitiveFounded = Date(timeIntervalSinceReferenceDate: 1)
    }
}

public class Trainer: NSManagedObject {
    @Managed var name: String?
    @Managed var squad: Squad?
}

/// The destination of a to-one relationship, as a protocol of another module.
public protocol Athlete: AnyObject {
    var number: Int16 { get set }
}

public enum SquadKind: Int16 {
    case amateur, youth, professional
}

enum SquadMood: String {
    case calm, furious
}

public enum SquadStage: String {
    case group, final
}

public struct SquadFlags: OptionSet, Sendable {
    public let rawValue: Int32

    public init(rawValue: Int32) { self.rawValue = rawValue }

    static let promoted = SquadFlags(rawValue: 1)
    static let broke = SquadFlags(rawValue: 2)
}
