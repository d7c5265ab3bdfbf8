import Foundation
import ModelFiles
import Testing

@testable import ModelCompiler

/// Models for which no classes can be generated, with the expected errors and their places.
@Suite struct GenerationErrorTests {
    private func errors(_ source: ModelSource) -> [String] {
        do {
            _ = try ClassGenerator(source)
            return []
        } catch { return error.diagnostics.filter { $0.severity == .error }.map(\.description) }
    }

    @Test func namesThatEveryObjectHas() throws {
        let source = try Models.source(
            team: """
                <attribute name="isDeleted" attributeType="Boolean"/>
                <attribute name="name" attributeType="String"/>
                <attribute name="description" attributeType="String"/>
                """)
        #expect(
            errors(source) == [
                "Cup/contents:6: error: every managed object has a property with the name of 'Team.description': "
                    + "rename it",
                "Cup/contents:4: error: every managed object has a property with the name of 'Team.isDeleted': "
                    + "rename it",
            ])
    }

    @Test func namesOfAllKindsThatSwiftAllows() throws {
        let names = ["漢字", "اسم", "emoji😀", "é_1", "_x", "self", "init", "default", "Type"]
        let attributes = names.map { "<attribute name=\"\($0)\" attributeType=\"String\"/>" }.joined()
        let rest = #"<entity name="Cup🏆" representedClassName="Cup🏆" codeGenerationType="class"/>"#
        #expect(errors(try Models.source(team: attributes, rest: rest)) == [])
        for name in ["1a", "a-b", "a b", "☕", "a.b", "_", "a\u{301}\u{2028}"] {
            let source = try Models.source(team: "<attribute name=\"\(name)\" attributeType=\"String\"/>")
            #expect(errors(source).count == 1, "\(name)")
        }
    }

    @Test func namesThatSwiftDoesNotAllow() throws {
        let property = try Models.source(team: #"<attribute name="best player" attributeType="String"/>"#)
        #expect(
            errors(property) == [
                "Cup/contents:4: error: the name of the property 'Team.best player' is not valid in Swift"
            ])
        let type = try Models.source(
            team: "", rest: #"<entity name="Fan" representedClassName="Fan-Club" codeGenerationType="class"/>"#)
        #expect(
            errors(type) == [
                "Cup/contents:6: error: the class name 'Fan-Club' of the entity 'Fan' is not valid in Swift"
            ])
    }

    @Test func oneClassForTwoEntities() throws {
        let source = try Models.source(
            team: "", rest: #"<entity name="Squad" representedClassName="Team" codeGenerationType="category"/>"#)
        #expect(errors(source).count == 1)
        #expect(errors(source).first?.hasPrefix("Cup/contents:6: error: the entities 'Squad' and 'Team'") == false)
        #expect(errors(source).first?.contains("'Squad'") == true && errors(source).first?.contains("'Team'") == true)
    }

    @Test func templatesThatCannotBeRead() throws {
        let source = try Models.source(
            team: #"<attribute name="name" attributeType="String"/>"#,
            rest: #"<fetchRequest name="bad" entity="Team" predicateString="name =="/>"#)
        let found = errors(source)
        #expect(found.count == 1)
        #expect(
            found.first?.hasPrefix(
                "Cup/contents:6: error: cannot read the predicate of the fetch request template 'bad': ") == true)
    }

    @Test func skippedEntitiesAndTemplatesAreWarnings() throws {
        let source = try Models.source(
            team: "",
            rest: """
                <entity name="Fan" codeGenerationType="class"/>
                <fetchRequest name="all of them" entity="Team"/>
                """)
        let generator = try ClassGenerator(source)
        #expect(generator.classNames == ["Team"])
        #expect(
            generator.warnings.map(\.description) == [
                "Cup/contents:6: warning: no class is generated for the entity 'Fan': it has no class name "
                    + "(representedClassName)",
                "Cup/contents:7: warning: no method is generated for the fetch request template 'all of them': "
                    + "its name is not valid in Swift",
            ])
    }
}
