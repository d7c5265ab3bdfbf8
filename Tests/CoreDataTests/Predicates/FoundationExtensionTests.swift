import Foundation
import Testing

@testable import CoreData

/// The classes of predicates parsed from formats and keys, and their members.
@Suite struct FoundationExtensionTests {
    /// A compound predicate prints, compares, evaluates and fetches by its subpredicates, however it was created.
    @Test func compoundsMadeByTheirInitialisersPrintTheirTree() {
        let parts = [NSPredicate(format: "wins > 1"), NSPredicate(format: "name == 'a'")]
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: parts)
        #expect(both.predicateFormat == "wins > 1 AND name == \"a\"")
        #expect("\(both)" == both.predicateFormat)
        #expect(NSCompoundPredicate(orPredicateWithSubpredicates: parts).predicateFormat == "wins > 1 OR name == \"a\"")
        #expect(NSCompoundPredicate(notPredicateWithSubpredicate: parts[0]).predicateFormat == "NOT wins > 1")
        #expect(
            NSCompoundPredicate(type: .not, subpredicates: [both]).predicateFormat == "NOT (wins > 1 AND name == \"a\")"
        )
        #expect(NSCompoundPredicate(type: .and, subpredicates: []).predicateFormat == "TRUEPREDICATE")
        #expect(both == NSPredicate(format: "wins > 1 AND name == 'a'"))
        #expect(both.subpredicates.count == 2 && both.compoundPredicateType == .and)
        #expect(both.evaluate(with: ["wins": 2, "name": "a"]) && !both.evaluate(with: ["wins": 2, "name": "b"]))
        #expect(NSPredicate(format: "a == 1 OR b == 2") is NSCompoundPredicate)
        let open = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "wins > $least")])
        #expect(open.evaluate(with: ["wins": 2], substitutionVariables: ["least": 1]))
        #expect(open.withSubstitutionVariables(["least": 1]).formatString == "wins > 1")
    }

    @Test func formatStringsGiveTheClassesThatApplesGive() throws {
        let comparison = NSPredicate(format: "wins >= %d", 3)
        let junction = NSPredicate(format: "a == 1 AND NOT b == 2")
        #expect(comparison is NSComparisonPredicate)
        let compound = try #require(junction as? NSCompoundPredicate)
        #expect(compound.compoundPredicateType == .and)
        #expect(compound.subpredicates.map(\.formatString) == ["a == 1", "NOT b == 2"])
        let tree = try #require(comparison as? NSComparisonPredicate)
        #expect(tree.leftExpression.keyPath == "wins")
        #expect(tree.rightExpression.constantValue as? Int == 3)
        #expect(tree.predicateOperatorType == .greaterThanOrEqualTo)
        #expect(tree.options == [] && tree.comparisonPredicateModifier == .direct)
        let any = try #require(NSPredicate(format: "ANY a.b ==[cd] 'x'") as? NSComparisonPredicate)
        #expect(any.comparisonPredicateModifier == .any)
        #expect(any.options == [.caseInsensitive, .diacriticInsensitive])
    }

    @Test func argumentsTakeTheirPlaces() {
        let none: String? = nil
        let predicate = NSPredicate(
            format: "%K == %@ AND b == %@ AND c IN %@ AND d == %ld AND e == %@ AND f == %@", "a.x", "text", none,
            [1, 2], 7, NSNull(),
            NSExpression(forKeyPath: "g.h"))
        #expect(
            predicate.formatString
                == "a.x == \"text\" AND b == nil AND c IN {1, 2} AND d == 7 AND e == nil AND f == g.h")
        #expect(NSPredicate(format: "a == %@", argumentArray: [true]).formatString == "a == 1")
    }

    @Test func compoundAndConstantPredicatesOfFoundationHaveATree() {
        let wins = NSPredicate(format: "wins > 1")
        let both = NSCompoundPredicate(
            andPredicateWithSubpredicates: [wins, NSCompoundPredicate(notPredicateWithSubpredicate: wins)])
        #expect(both.formatString == "wins > 1 AND NOT wins > 1")
        #expect(NSCompoundPredicate(orPredicateWithSubpredicates: []).formatString == "FALSEPREDICATE")
        #expect(NSPredicate(value: true).formatString == "TRUEPREDICATE")
        #expect(NSPredicate(value: false).formatString == "FALSEPREDICATE")
        #expect(both.evaluate(with: ["wins": 2]) == false)
        #expect(NSCompoundPredicate(orPredicateWithSubpredicates: [wins, both]).evaluate(with: ["wins": 2]))
    }

    @Test func blocksAreEvaluatedButNotTranslated() throws {
        let world = try PredicateWorld(seed: 1, teamCount: 10)
        let block = NSPredicate(block: { object, _ in (object as? PredicateRow).map { $0.number > 5 } ?? false })
        let predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [block, NSPredicate(format: "SELF != nil")])
        #expect(try world.keysBySQL(world.team, predicate) == nil)
        #expect(try world.keysInMemory(world.team, predicate) == [6, 7, 8, 9, 10])
        #expect(predicate.formatString == "BLOCKPREDICATE AND SELF != nil")
    }

    @Test func equalPredicatesAreEqual() {
        #expect(NSPredicate(format: "a = 1 && b = 2") == NSPredicate(format: "a == 1 AND b == 2"))
        #expect(NSPredicate(format: "a = 1") != NSPredicate(format: "a = 2"))
        #expect(NSPredicate(format: "a = 1").hash == NSPredicate(format: "a == 1").hash)
        #expect(NSExpression(format: "a + 1") == NSExpression(format: "(a + 1)"))
    }

    @Test func mistakesAreThrownWithTheirPlace() throws {
        let error = #expect(throws: PredicateFormatError.self) { try NSPredicate.parse(format: "wins >") }
        #expect(error?.characterOffset == 6)
        #expect(error?.localizedDescription == "expected a key, a value or a predicate, found the end (at character 7)")
        let cocoa = try #require(error as NSError?)
        #expect(cocoa.domain == NSCocoaErrorDomain && cocoa.code == 2048)
        #expect(throws: PredicateFormatError.self) { try NSExpression.parse(format: "1 +") }
    }

    @Test func sortDescriptorsKnowTheirKeys() throws {
        let plain = NSSortDescriptor(key: "venue.name", ascending: false)
        #expect(plain.key == "venue.name" && !plain.ascending)
        #expect(plain.storeSortKey == StoreSortKey(keyPath: ["venue", "name"], ascending: false))
        let reversed = try #require(plain.reversedSortDescriptor as? NSSortDescriptor)
        #expect(reversed.key == "venue.name" && reversed.ascending)
        let standard = NSSortDescriptor(key: "name", ascending: true, selector: "localizedStandardCompare:")
        #expect(standard.storeSortKey.comparison == .localizedStandard)
        #expect(standard.selector == .localizedStandardCompare)
        #expect(SortSelector(String("compareBackwards:")) == nil)
        #expect(NSSortDescriptor(key: nil, ascending: true).storeSortKey.keyPath == ["self"])
        #expect(NSSortDescriptor(key: "a", ascending: true) == NSSortDescriptor(key: "a", ascending: true))
    }

    @Test func sortDescriptorsCompareObjects() {
        let descriptor = NSSortDescriptor(key: "wins", ascending: true)
        #expect(descriptor.compare(["wins": 1], to: ["wins": 2]) == .orderedAscending)
        #expect(descriptor.compare(["wins": 2.5], to: ["wins": 2]) == .orderedDescending)
        #expect(descriptor.compare(["x": 1], to: ["wins": -5]) == .orderedAscending)
        let names = NSSortDescriptor(key: "name", ascending: false, selector: .caseInsensitiveCompare)
        #expect(names.compare(["name": "a"], to: ["name": "B"]) == .orderedDescending)
        let code = NSSortDescriptor(key: "n", ascending: true) { left, right in
            ((left as? Int) ?? 0) % 10 < ((right as? Int) ?? 0) % 10 ? .orderedAscending : .orderedDescending
        }
        #expect(code.compare(["n": 21], to: ["n": 13]) == .orderedAscending)
    }
}
