import Foundation
import Testing

@testable import CoreData

/// Values are made into objects for `validateValue(_:forKey:)` only where a class overrides it.
@Suite struct ValidationOverrideTests {
    private final class Plain: NSManagedObject {
        override func validateForInsert() throws { try super.validateForInsert() }
    }

    private class Strict: NSManagedObject {
        override func validateValue(
            _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
        ) throws {
            try super.validateValue(value, forKey: key)
        }
    }

    private final class Heir: Strict {}

    @Test func itIsKnownWhichClassesOverrideIt() {
        #expect(!ValidationOverride.exists(in: NSManagedObject.self))
        #expect(!ValidationOverride.exists(in: Plain.self))
        #expect(ValidationOverride.exists(in: Strict.self))
        #expect(ValidationOverride.exists(in: Heir.self))
    }
}
