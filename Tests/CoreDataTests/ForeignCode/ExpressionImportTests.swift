import Foundation
import Testing
import class CoreData.NSComparisonPredicate
import class CoreData.NSExpression

/// A file that imports the two classes by name in addition to Foundation (issue 18, point 22).
@Suite struct ExpressionImportTests {
    @Test func theClassesCanBeImportedByName() {
        let left: NSExpression = NSExpression(forKeyPath: "n")
        let predicate: NSComparisonPredicate = NSComparisonPredicate(
            leftExpression: left, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct, type: .equalTo)
        #expect(predicate.evaluate(with: ["n": 1]))
    }
}
