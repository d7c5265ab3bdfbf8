import CoreData
import Foundation
import Testing

/// Values as programs cast them, and key-value coding as they use it (18.16, 18.18). Only the public interface.
@MainActor @Suite struct ValueTests {
    @Test func p16_constantsCastAsNumbersDo() throws {
        let predicate = try #require(NSPredicate(format: "n == 3") as? CoreData.NSComparisonPredicate)
        let three = predicate.rightExpression.constantValue
        #expect(three as? Int == 3 && three as? Int32 == 3 && three as? Int64 == 3 && three as? Double == 3)
        #expect(three as! Int == 3)
        let yes = (NSPredicate(format: "n == YES") as? CoreData.NSComparisonPredicate)?.rightExpression.constantValue
        #expect(yes as? Bool == true && yes as? Int == 1)
        let half = NSExpression(format: "0.5").constantValue
        #expect(half as? Double == 0.5 && half as? NSNumber == 0.5)
        #expect(NSExpression(forConstantValue: UInt8(7)).constantValue as? Int == 7)
        #expect(NSExpression(forConstantValue: UInt64.max).constantValue as? UInt64 == .max)
        #expect(NSExpression(forConstantValue: "x").constantValue as? String == "x")
        #expect(NSExpression(forConstantValue: Optional<Date>.none as Any).constantValue == nil)
        #expect(NSExpression(forConstantValue: Optional<Int>.some(4) as Any).constantValue as? Int == 4)
    }

    @Test func p16_keyPathsOfVariablesWorkInASubquery() throws {
        let desk = try MigrationDesk()
        let container = try desk.open(Self.model())
        let context = container.viewContext
        let album = desk.insert("Album", ["title": "A"], context)
        for name in ["x", "y"] { desk.insert("Song", ["title": name, "album": album], context) }
        let condition = CoreData.NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "$s.title"), rightExpression: NSExpression(forConstantValue: "x"),
            modifier: .direct, type: .equalTo)
        let songs = NSExpression(
            forSubquery: NSExpression(forKeyPath: "songs"), usingIteratorVariable: "s", predicate: condition)
        let count = NSExpression(forFunction: "count:", arguments: [songs])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Album")
        request.predicate = CoreData.NSComparisonPredicate(
            leftExpression: count, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct, type: .equalTo
        )
        #expect(try context.fetch(request) == [album])
        try context.save()
        #expect(try context.fetch(request) == [album])
        try desk.close(container)
    }

    @Test func p18_keysAreFoundWithACapitalAndCollectionsHaveOperators() throws {
        let desk = try MigrationDesk()
        let container = try desk.open(Self.model())
        let context = container.viewContext
        let songs = (1...4).map { desk.insert("Song", ["title": "s\($0 % 2)", "plays": $0], context) }
        songs[0].setValue("S", forKey: "Title")
        #expect(songs[0].value(forKey: "title") as? String == "S" && songs[0].value(forKey: "Title") as? String == "S")
        let array = NSArray(array: songs)
        #expect((array.value(forKeyPath: "@sum.plays") as? NSNumber)?.intValue == 10)
        #expect((array.value(forKeyPath: "@max.plays") as? NSNumber)?.intValue == 4)
        #expect((array.value(forKey: "plays") as? [NSNumber])?.map(\.intValue) == [1, 2, 3, 4])
        #expect(
            (array.value(forKeyPath: "@distinctUnionOfObjects.title") as? [String]).map(Set.init) == ["S", "s0", "s1"])
        #expect((NSSet(array: songs).value(forKeyPath: "@avg.plays") as? NSNumber)?.doubleValue == 2.5)
        #expect((NSSet(array: songs).value(forKey: "title") as? NSSet)?.count == 3)
        #expect((NSOrderedSet(array: songs).value(forKeyPath: "@count") as? NSNumber)?.intValue == 4)
        try desk.close(container)
    }

    private static func model() -> NSManagedObjectModel {
        let album = MigrationDesk.entity("Album", [MigrationDesk.attribute("title")])
        let song = MigrationDesk.entity(
            "Song", [MigrationDesk.attribute("title"), MigrationDesk.attribute("plays", .integer32AttributeType)])
        MigrationDesk.relate(album, "songs", many: true, ordered: false, song, "album")
        return MigrationDesk.model([album, song])
    }
}
