import Foundation
import Testing

@testable import CoreData

/// Differences that are computed before they are reported.
@Suite struct PreparedDifferenceTests {
    private func insertion(of rows: [RowToken]) -> ChangeBatch {
        let new = ListContents(rows: SharedElements(rows), sections: [], isSectioned: false)
        return ChangeBatch(comparing: ListContents(isSectioned: false), with: new)
    }

    @Test func theyHoldUntilANewObjectIsSaved() throws {
        try Staff.run { staff in
            let (alice, _, _) = try staff.savedThree()
            let new = staff.employee("Zoe", "Z")
            let identities = RowIdentities(store: staff.store)
            let batch = insertion(of: [identities.token(of: alice), identities.token(of: new)])
            let prepared = try #require(try PreparedDifference(batch, identities.frozen()) {})
            #expect([].applying(try #require(prepared.value(of: identities))) == [alice.objectID, new.objectID])
            // A new row that the difference does not contain.
            _ = identities.token(of: staff.employee("Yan", "Z"))
            #expect(prepared.value(of: identities) != nil)
            try staff.context.save()
            #expect(!new.objectID.isTemporaryID)
            #expect(prepared.value(of: identities) == nil)
        }
    }

    @Test func theyCanBeStoppedAndMayBeUnwanted() throws {
        try Staff.run { staff in
            let (alice, _, _) = try staff.savedThree()
            let identities = RowIdentities(store: staff.store)
            let batch = insertion(of: [identities.token(of: alice)])
            #expect(throws: CancellationError.self) {
                _ = try PreparedDifference(batch, identities.frozen()) { throw CancellationError() }
            }
            let unwanted = try PreparedDifference(batch, nil) {}
            #expect(unwanted == nil)
            let ofNothing = try PreparedDifference(insertion(of: []), identities) {}
            #expect(ofNothing == nil)
        }
    }
}
