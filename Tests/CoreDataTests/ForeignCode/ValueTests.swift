import CoreData
import Foundation
import Testing

/// Casts of values and key-value coding, as programs use them (issue 18, points 16 and 18). Uses only the public
/// interface.
@MainActor @Suite struct ValueTests {
    @Test func constantsCastAsNumbersDo() throws {
        let predicate = try #require(NSPredicate(format: "n == 3") as? NSComparisonPredicate)
        let three = predicate.rightExpression.constantValue
        #expect(three as? Int == 3 && three as? Int32 == 3 && three as? Int64 == 3 && three as? Double == 3)
        #expect(three as! Int == 3)
        let yes = (NSPredicate(format: "n == YES") as? NSComparisonPredicate)?.rightExpression.constantValue
        #expect(yes as? Bool == true && yes as? Int == 1)
        let half = NSExpression(format: "0.5").constantValue
        #expect(half as? Double == 0.5 && half as? NSNumber == 0.5)
        #expect(NSExpression(forConstantValue: UInt8(7)).constantValue as? Int == 7)
        let digits = NSDecimalNumber(string: "12345678901234567890.5")
        #expect(NSExpression(forConstantValue: digits).constantValue as? NSDecimalNumber == digits)
        #expect(NSExpression(forConstantValue: UInt64.max).constantValue as? UInt64 == .max)
        #expect(NSExpression(forConstantValue: "x").constantValue as? String == "x")
        #expect(NSExpression(forConstantValue: Optional<Date>.none as Any).constantValue == nil)
        #expect(NSExpression(forConstantValue: Optional<Int>.some(4) as Any).constantValue as? Int == 4)
    }

    /// A number of type `Any` can be cast as with Apple's framework.
    @Test func returnedValuesCastAsNumbersDo() throws {
        let desk = try MigrationDesk()
        let model = Self.model()
        let plays = try #require(model.entitiesByName["Song"]?.attributesByName["plays"])
        plays.defaultValue = 7
        #expect(plays.defaultValue as? Int16 == 7 && plays.defaultValue as? Double == 7, "a default")
        let container = try desk.open(model)
        let context = container.viewContext
        let song = desk.insert("Song", ["title": "x"], context)
        var values = [
            song.value(forKey: "plays"), song.primitiveValue(forKey: "plays"),
            song.dictionaryWithValues(forKeys: ["plays"])["plays"],
        ]
        song.setValue(9, forKey: "plays")
        try context.save()
        song.setValue(7, forKey: "plays")
        values.append(song.changedValues()["plays"])
        try context.save()
        let request = NSFetchRequest<NSDictionary>(entityName: "Song")
        request.resultType = .dictionaryResultType
        let sum = NSExpressionDescription()
        sum.name = "sum"
        sum.expression = NSExpression(
            forFunction: "sum:", arguments: [NSExpression(forKeyPath: "plays")])
        sum.expressionResultType = .integer64AttributeType
        request.propertiesToFetch = ["plays"]
        values.append(try context.fetch(request).first?["plays"])
        request.propertiesToFetch = [sum]
        values.append(try context.fetch(request).first?["sum"])
        values += [
            song.committedValues(forKeys: ["plays"])["plays"], song.value(forKey: "plays"),
            NSExpression(format: "plays").expressionValue(with: song, context: nil),
            NSExpression(format: "3 + 4").expressionValue(with: nil, context: nil),
            NSArray(array: [song]).value(forKeyPath: "@sum.plays"),
        ]
        for (number, value) in values.enumerated() {
            #expect(
                value as? Int == 7 && value as? Int16 == 7 && value as? Int32 == 7 && value as? Int64 == 7
                    && value as? Double == 7 && value as? NSNumber == 7, "\(number): \(String(describing: value))")
        }
        try desk.close(container)
    }

    @Test func keyPathsOfVariablesWorkInASubquery() throws {
        let desk = try MigrationDesk()
        let container = try desk.open(Self.model())
        let context = container.viewContext
        let album = desk.insert("Album", ["title": "A"], context)
        for name in ["x", "y"] { desk.insert("Song", ["title": name, "album": album], context) }
        let condition = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "$s.title"), rightExpression: NSExpression(forConstantValue: "x"),
            modifier: .direct, type: .equalTo)
        let songs = NSExpression(
            forSubquery: NSExpression(forKeyPath: "songs"), usingIteratorVariable: "s", predicate: condition)
        let count = NSExpression(forFunction: "count:", arguments: [songs])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Album")
        request.predicate = NSComparisonPredicate(
            leftExpression: count, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct, type: .equalTo
        )
        #expect(try context.fetch(request) == [album])
        try context.save()
        #expect(try context.fetch(request) == [album])
        try desk.close(container)
    }

    @Test func capitalisedKeysAndCollectionOperatorsWork() throws {
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
