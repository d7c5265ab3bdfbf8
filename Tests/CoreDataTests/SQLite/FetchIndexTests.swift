import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// Fetch indexes of every kind are created as Apple's framework creates them, and are used.
@Suite struct FetchIndexTests {
    private static func model() -> NSManagedObjectModel {
        let attribute = StoreModels.attribute
        let (latitude, longitude) = (
            attribute("latitude", .doubleAttributeType), attribute("longitude", .doubleAttributeType)
        )
        let (name, wins) = (attribute("name", .stringAttributeType), attribute("wins", .integer32AttributeType))
        let place = StoreModels.entity("Place", [latitude, longitude, name, wins])
        func element(
            _ property: NSPropertyDescription, _ type: NSFetchIndexElementType = .binary, ascending: Bool = true
        ) -> NSFetchIndexElementDescription {
            let element = NSFetchIndexElementDescription(property: property, collationType: type)
            element.isAscending = ascending
            return element
        }
        func expression(_ text: String) -> NSExpressionDescription {
            let description = NSExpressionDescription()
            description.name = "expression1"
            description.expression = NSExpression(format: text)
            description.expressionResultType = .integer64AttributeType
            return description
        }
        let partial = NSFetchIndexDescription(
            name: "winners", elements: [element(wins, ascending: false), element(name)])
        partial.partialIndexPredicate = NSPredicate(format: "wins > 3 AND name != nil")
        place.indexes = [
            NSFetchIndexDescription(name: "bounds", elements: [element(latitude, .rTree), element(longitude, .rTree)]),
            partial,
            NSFetchIndexDescription(name: "doubled", elements: [element(expression("wins + wins"))]),
            NSFetchIndexDescription(name: "folded", elements: [element(expression("lowercase:(name)"))]),
        ]
        return StoreModels.model([place])
    }

    @Test func theStatementsAreApples() throws {
        let harness = try StoreHarness(Self.model())
        _ = try harness.open()
        func sql(_ name: String) throws -> String? {
            guard
                case .text(let text)? = try harness.sql("SELECT sql FROM sqlite_master WHERE name = ?", [.text(name)])
                    .first?.first
            else { return nil }
            return text
        }
        #expect(
            try sql("Z_RT_Place_bounds")
                == "CREATE VIRTUAL TABLE Z_RT_Place_bounds USING RTREE (Z_PK INTEGER PRIMARY KEY, ZLATITUDE_MIN FLOAT, ZLATITUDE_MAX FLOAT, "
                + "ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT)")
        #expect(
            try sql("Z_RT_Place_bounds_DELETE")
                == "CREATE TRIGGER Z_RT_Place_bounds_DELETE AFTER DELETE ON ZPLACE FOR EACH ROW BEGIN DELETE FROM Z_RT_Place_bounds "
                + "WHERE Z_PK = OLD.Z_PK ; END")
        let winners = try sql("Z_Place_winners")
        #expect(
            winners?.hasPrefix(
                "CREATE INDEX Z_Place_winners ON ZPLACE (ZWINS COLLATE BINARY DESC, ZNAME COLLATE BINARY ASC) WHERE ")
                == true)
        #expect(winners?.contains("ZWINS > 3") == true, "the condition is the predicate's")
        #expect(try sql("Z_Place_doubled")?.contains("ZWINS + ZWINS") == true)
        #expect(try sql("Z_Place_folded") == nil, "only the framework knows the function")
    }

    @Test func theTreeFollowsTheRows() throws {
        let harness = try StoreHarness(Self.model())
        let open = try harness.open()
        let ids = try (0..<5).map {
            try open.insert("Place", ["latitude": .real(Double($0)), "longitude": .real(Double(-$0))])
        }
        func within(_ latitude: Double) throws -> [[SQLiteValue]] {
            try harness.sql("SELECT Z_PK FROM Z_RT_Place_bounds WHERE ZLATITUDE_MIN >= ? ORDER BY 1", [.real(latitude)])
        }
        #expect(try within(3) == [[.integer(4)], [.integer(5)]])
        try open.store.save(
            StoreChangeSet(
                updated: [try open.change(ids[0], ["latitude": .real(10)])], deleted: [try open.deletion(ids[4])]))
        #expect(try within(3) == [[.integer(1)], [.integer(4)]])
        #expect(try harness.sql("PRAGMA integrity_check") == [[.text("ok")]])
    }
}
