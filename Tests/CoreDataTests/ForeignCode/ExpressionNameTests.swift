import CoreData
import Foundation
import Testing
import XCTest

/// Names that Foundation declares, too, in a file with the usual imports (issue 18, point 22). Uses only the public
/// interface.
@Suite struct ExpressionNameTests {
    private let keyPath: NSExpression = NSExpression(forKeyPath: "name")
    private let kind: NSExpression.ExpressionType = .keyPath

    private func comparison(_ predicate: NSPredicate) -> NSComparisonPredicate? { predicate as? NSComparisonPredicate }

    @Test func expressionsAreCoreDatasWithFoundationImported() throws {
        let parts: [NSExpression] = [keyPath, NSExpression(forConstantValue: 3)]
        let sum = NSExpression(forFunction: "sum:", arguments: [NSExpression(forAggregate: [1, 2] as [Any])])
        #expect(parts.map(\.expressionType) == [kind, .constantValue])
        #expect(keyPath.expressionValue(with: ["name": "Ada"], context: nil) as? String == "Ada")
        #expect(sum.expressionValue(with: nil, context: nil) as? Int == 3)
        #expect((sum.arguments?.first as NSExpression?)?.collection is [NSExpression])
        #expect(keyPath.doubled == "name.name")
        let qualified: CoreData.NSExpression = keyPath
        #expect(qualified.isEqual(try NSExpression.parse(format: "name")) && qualified.hash == keyPath.hash)
    }

    @Test func comparisonsAreCoreDatasWithFoundationImported() throws {
        let read = try #require(comparison(NSPredicate(format: "name BEGINSWITH[c] 'a'")))
        let type: NSComparisonPredicate.Operator = read.predicateOperatorType
        #expect(type == .beginsWith && read.options == NSComparisonPredicate.Options.caseInsensitive)
        #expect(read.evaluate(with: ["name": "Ada"]) && !read.evaluate(with: ["name": "Bea"]))
        #expect(comparison(NSPredicate(value: true)) == nil)
        let made: NSPredicate = NSComparisonPredicate(
            leftExpression: keyPath, rightExpression: NSExpression(forVariable: "LETTER"), modifier: .direct,
            type: type, options: [.caseInsensitive])
        #expect(made.evaluate(with: ["name": "Ada"], substitutionVariables: ["LETTER": "A"]))
        #expect(made.withSubstitutionVariables(["LETTER": "a"]).isEqual(read))
        #expect(made is NSComparisonPredicate && !(made is Own))
    }

    @Test func aSubclassOfComparisonsCanOverrideEvaluation() {
        let own = Own(leftExpression: keyPath, rightExpression: keyPath, modifier: .direct, type: .equalTo)
        #expect(!own.evaluate(with: ["name": "Ada"]) && (own as NSComparisonPredicate).predicateFormat == "own")
        #expect(!NSCompoundPredicate(orPredicateWithSubpredicates: [own]).evaluate(with: ["name": "Ada"]))
    }

    /// Archives contain the class name of this platform. Stores also accept the name with the former module.
    @Test(arguments: [nil, "CoreData.NSExpression"]) func expressionsAreDecodedFromArchives(_ name: String?) throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        if let name { archiver.setClassName(name, for: NSExpression.self) }
        archiver.encode(keyPath, forKey: NSKeyedArchiveRootObjectKey)
        final class Transformer: NSSecureUnarchiveFromDataTransformer, @unchecked Sendable {
            override class var allowedTopLevelClasses: [AnyClass] { [NSExpression.self] }
        }
        let read = Transformer().transformedValue(archiver.encodedData) as? NSExpression
        #expect(read?.isEqual(keyPath) == true)
        let plain = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSExpression.self, from: archiver.encodedData)
        #expect(plain?.keyPath == "name")
    }
}

extension NSExpression {
    fileprivate var doubled: String { "\(keyPath).\(keyPath)" }
}

private final class Own: NSComparisonPredicate {
    override var predicateFormat: String { "own" }
    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        !super.evaluate(with: object, substitutionVariables: bindings)
    }
}
