import Foundation
import ModelFiles
import Testing

@testable import ModelCompiler

/// The text of generated classes.
@Suite struct GeneratedSourceTests {
    /// Compares a text with the file in `Golden/`. `ROSTER_UPDATE_GOLDEN=1` rewrites the file.
    private func expectGolden(_ text: String, _ name: String) throws {
        let file = Models.folder.appendingPathComponent("Golden/\(name).txt")
        if ProcessInfo.processInfo.environment["ROSTER_UPDATE_GOLDEN"] == "1" {
            try text.write(to: file, atomically: true, encoding: .utf8)
            return
        }
        let expected = try String(contentsOf: file, encoding: .utf8)
        #expect(text == expected, "\(name):\n\(text)")
    }

    @Test(arguments: ["WorldCup", "Kinds"])
    func sourcesEqualTheGoldenFiles(name: String) throws {
        let source = try ModelSource.read(name == "Kinds" ? Models.kinds : Models.worldCup)
        let files = try ClassGenerator(source).files
        try expectGolden(files.map { "=== \($0.name)\n\($0.text)" }.joined(separator: "\n"), name)
    }

    /// Xcode's declarations for the model, without `@NSManaged` and names for the Objective-C runtime.
    @Test func declarationsAreThoseOfXcode() throws {
        let generator = try ClassGenerator(ModelSource.read(Models.kinds))
        #expect(
            generator.files.map(\.name) == [
                "Base+CoreDataClass.swift", "Base+CoreDataProperties.swift", "Child+CoreDataClass.swift",
                "Child+CoreDataProperties.swift", "Data+CoreDataClass.swift", "Data+CoreDataProperties.swift",
                "Everything+CoreDataClass.swift", "Everything+CoreDataProperties.swift",
                "default+CoreDataProperties.swift",
            ])
        #expect(
            declarations("Everything", generator) == [
                "nonisolated public class Everything: NSManagedObject",
                "nonisolated extension Everything",
                "@nonobjc public class func fetchRequest() -> NSFetchRequest<Everything>",
                "public var address: [String : Any]?",
                "public var colors: [String]?",
                "public var decimal: NSDecimalNumber?",
                "public var double: Double",
                "public var flag: Bool",
                "public var float: Float",
                "public var image: Image?",
                "public var integer16: Int16",
                "public var integer32: Int32",
                "public var integer64: Int64",
                "public var link: URL?",
                "public var moment: TimeInterval",
                "public var objectDouble: NSNumber?",
                "public var objectFlag: NSNumber?",
                "public var text: String?",
                "public var textUpper: String?",
                "public var thing: NSObject?",
                "public var token: UUID?",
                "public var unknown: NSObject?",
                "public var when: Date?",
                "public var children: NSSet?",
                "nonisolated extension Everything",
                "public func addToChildren(_ value: Child)",
                "public func removeFromChildren(_ value: Child)",
                "public func addToChildren(_ values: NSSet)",
                "public func removeFromChildren(_ values: NSSet)",
                "nonisolated extension Everything",
                "public class func fetchRequestFromTemplateByTextAndTime(TEXT: Any, since: Any) -> NSFetchRequest<Everything>",
                "nonisolated extension Everything: Identifiable",
            ])
        #expect(
            declarations("default", generator) == [
                "nonisolated extension `default`",
                "@nonobjc public class func fetchRequest() -> NSFetchRequest<`default`>",
                "public var `default`: String?",
                "public var `in`: Int16",
                "public var hand: Hand?",
                "public var `self`: NSOrderedSet?",
                "nonisolated extension `default`",
                "public func insertIntoSelf(_ value: `default`, at idx: Int)",
                "public func removeFromSelf(at idx: Int)",
                "public func insertIntoSelf(_ values: [`default`], at indexes: NSIndexSet)",
                "public func removeFromSelf(at indexes: NSIndexSet)",
                "public func replaceSelf(at idx: Int, with value: `default`)",
                "public func replaceSelf(at indexes: NSIndexSet, with values: [`default`])",
                "public func addToSelf(_ value: `default`)",
                "public func removeFromSelf(_ value: `default`)",
                "public func addToSelf(_ values: NSOrderedSet)",
                "public func removeFromSelf(_ values: NSOrderedSet)",
                "nonisolated extension `default`: Identifiable",
            ])
        #expect(
            declarations("Child", generator) == [
                "nonisolated public class Child: Base",
                "nonisolated extension Child",
                "@nonobjc public class func fetchRequest() -> NSFetchRequest<Child>",
                "public var everything: Everything?",
                "public var hand: Hand?",
                "public var plain: NSManagedObject?",
                "nonisolated extension Child",
                "public class func fetchRequestFromTemplateAll() -> NSFetchRequest<Child>",
            ])
    }

    /// The declarations in the files of a class, in order.
    private func declarations(_ name: String, _ generator: ClassGenerator) -> [String] {
        generator.files.filter { $0.name.hasPrefix(name + "+") }.flatMap { file in
            file.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { $0.hasSuffix("{") && !$0.hasPrefix("get") && !$0.hasPrefix("set") }
                .map { $0.dropLast(2).description }
        }
    }

    /// A class of the model may have the same name as a type that the generated text needs.
    @Test func typesThatTheModelHidesAreNamedWithTheirModule() throws {
        let file = try ClassGenerator(ModelSource.read(Models.kinds)).singleFile(named: "Kinds.swift")
        #expect(file.text.contains("public var bytes: Foundation.Data? {"))
        #expect(file.text.contains("NSFetchRequest<Data>(entityName: \"Data\")"))
    }

    @Test func oneFileContainsTheSeveralFiles() throws {
        let generator = try ClassGenerator(ModelSource.read(Models.worldCup))
        let together = generator.singleFile(named: "X.swift").text
        for file in generator.files {
            let body = try #require(file.text.range(of: "import CoreData\n"))
            #expect(together.contains(file.text[body.upperBound...]), "\(file.name)")
        }
        #expect(together.components(separatedBy: "import CoreData").count == 2)
    }

    /// Hand-written classes are not generated unless requested.
    @Test func handWrittenClassesAreOnlyGeneratedOnRequest() throws {
        let source = try ModelSource.read(Models.kinds)
        #expect(!(try ClassGenerator(source).classNames.contains("Hand")))
        let everything = try ClassGenerator(source, everything: true)
        #expect(everything.classNames.contains("Hand"))
        // An entity without a class name cannot get one.
        #expect(everything.warnings.contains { $0.text.contains("no class is generated for the entity 'Plain'") })
    }

    /// The build expects an output file in any case, and the compiler warns of unused imports.
    @Test func aModelOfHandWrittenClassesMakesAFileWithoutImports() throws {
        let model = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Examples/Ported/Sources/OrderBook/OrderBook.xcdatamodeld")
        let file = try ClassGenerator(ModelSource.read(model)).singleFile(named: "X.swift")
        #expect(file.text.split(separator: "\n").allSatisfy { $0.hasPrefix("//") })
        #expect(file.text.contains("OrderBook.xcdatamodeld"))
    }

    @Test func theOrderOfTheFileDoesNotMatter() throws {
        var source = try ModelSource.read(Models.kinds)
        let text = try ClassGenerator(source).singleFile(named: "X.swift").text
        source.model.entities.reverse()
        for index in source.model.entities.indices { source.model.entities[index].properties.reverse() }
        source.model.fetchRequests.reverse()
        #expect(try ClassGenerator(source).singleFile(named: "X.swift").text == text)
    }

    /// Variables of subqueries and text in quotes are not parameters.
    @Test func templatesHaveTheVariablesOfTheirPredicate() throws {
        let source = try Models.source(
            team: #"<attribute name="name" attributeType="String"/>"#,
            rest: """
                <fetchRequest name="rich" entity="Team" predicateString="SUBQUERY(fans, $f, $f.paid &gt; $least).@count &gt; $n AND name != '$x'"/>
                """)
        let text = try ClassGenerator(source).singleFile(named: "Cup.swift").text
        #expect(
            text.contains(
                "public class func fetchRequestFromTemplateRich(least: Any, n: Any) -> NSFetchRequest<Team> {"))
        #expect(
            text.contains(
                #"(template: "rich", of: entity(), substitutionVariables: ["least": least, "n": n])"#))
    }
}
