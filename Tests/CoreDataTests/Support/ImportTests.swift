import CoreData
import Testing

/// Names available in a file that imports only CoreData.
@Suite struct ImportTests {
    @Test func coreDataBringsFoundationAndItsOwnExpressions() throws {
        let left: NSExpression = NSExpression(forKeyPath: "added")
        let right = NSExpression(forConstantValue: Date(timeIntervalSinceReferenceDate: 0))
        let predicate: NSComparisonPredicate = NSComparisonPredicate(
            leftExpression: left, rightExpression: right, modifier: .direct, type: .greaterThan)
        #expect(predicate.evaluate(with: ["added": Date()]))
        let read = try #require(NSPredicate(format: "added > %@", Date.distantPast) as? NSComparisonPredicate)
        #expect(read.predicateOperatorType == .greaterThan)
        #expect(NSSortDescriptor(key: "added", ascending: true).key == "added")
    }

    @Test func autoreleasepoolCallsItsBody() throws {
        struct Refusal: Error {}
        #expect(autoreleasepool { 1 + 1 } == 2)
        var count = 0
        for _ in 0..<3 { autoreleasepool { count += 1 } }
        #expect(count == 3)
        #expect(throws: Refusal.self) { try autoreleasepool { throw Refusal() } }
    }
}
