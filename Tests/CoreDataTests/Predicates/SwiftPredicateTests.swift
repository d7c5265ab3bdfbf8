import CoreData
import Foundation
import Testing

final class BandMember: NSManagedObject {
    @Managed var name: String?
    @Managed var age: Int64
    @Managed var pay: Double
    @Managed var isLead: Bool
    @Managed var joined: Date?
    @Managed var band: BandGroup?
}

extension BandMember {
    /// Not a property of the model.
    var fixed: Int { 3 }
}

final class BandGroup: NSManagedObject {
    @Managed var title: String
    @Managed var members: Set<BandMember>
    @Managed var founded: Int64
}

/// `NSPredicate(#Predicate { … })` has the results of Swift's own evaluation, in the store and in memory. Uses only the
/// public interface.
@MainActor @Suite struct SwiftPredicateTests {
    static func model() -> NSManagedObjectModel {
        let member = MigrationDesk.entity(
            "BandMember",
            [
                MigrationDesk.attribute("name"), MigrationDesk.attribute("age", .integer64AttributeType),
                MigrationDesk.attribute("pay", .doubleAttributeType),
                MigrationDesk.attribute("isLead", .booleanAttributeType),
                MigrationDesk.attribute("joined", .dateAttributeType),
            ])
        let group = MigrationDesk.entity(
            "BandGroup",
            [MigrationDesk.attribute("title"), MigrationDesk.attribute("founded", .integer64AttributeType)])
        MigrationDesk.relate(group, "members", many: true, ordered: false, member, "band")
        let model = MigrationDesk.model([member, group])
        for entity in model.entities { entity.managedObjectClassName = "CoreDataTests.\(entity.name ?? "")" }
        return model
    }

    /// Forty members of five bands, one band empty; some members have no band, name or date.
    static func fill(_ context: NSManagedObjectContext) throws {
        let names: [String?] = ["Ada", "ada", "Ünal", "中文", "🙂 smile", nil, "", "Zoë", "a.b", "René"]
        let bands = (0..<5).map { number in
            let band = BandGroup(context: context)
            band.title = "Band \(number)"
            band.founded = Int64(1960 + number * 10)
            return band
        }
        for number in 0..<40 {
            let member = BandMember(context: context)
            member.name = names[number % names.count]
            member.age = Int64(number * 7 % 41 - 5)
            member.pay = Double(number) * 1.5
            member.isLead = number % 3 == 0
            member.joined = number % 4 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number) * 1000)
            member.band = number % 6 == 5 ? nil : bands[number % 4]
        }
        try context.save()
    }

    private func open() throws -> NSManagedObjectContext {
        let container = try NSPersistentContainer.open(
            "Bands", model: Self.model(), at: URL(fileURLWithPath: "/dev/null"))
        try Self.fill(container.viewContext)
        return container.viewContext
    }

    private func agree(
        _ context: NSManagedObjectContext, _ predicate: Predicate<BandMember>, _ text: String? = nil,
        _ place: SourceLocation = #_sourceLocation
    ) throws {
        let all = try context.fetch(NSFetchRequest<BandMember>(entityName: "BandMember"))
        let expected = try Set(all.filter { try predicate.evaluate($0) }.map(\.objectID))
        let converted = try NSPredicate.parse(predicate)
        #expect(NSPredicate(predicate) != nil, sourceLocation: place)
        let request = NSFetchRequest<BandMember>(entityName: "BandMember")
        request.predicate = converted
        #expect(
            try Set(context.fetch(request).map(\.objectID)) == expected, "store, \(converted)", sourceLocation: place)
        let inMemory = Set(all.filter { converted.evaluate(with: $0) }.map(\.objectID))
        #expect(inMemory == expected, "memory, \(converted)", sourceLocation: place)
        #expect(
            !expected.isEmpty && expected.count < all.count, "\(converted) tells nothing apart", sourceLocation: place)
        if let text { #expect(converted.formatString == text, sourceLocation: place) }
    }

    @Test func comparesAndCombines() throws {
        let context = try open()
        try agree(context, #Predicate { $0.age > 3 }, "age > 3")
        try agree(context, #Predicate { $0.age >= 3 && $0.pay < 30 || !$0.isLead })
        try agree(context, #Predicate { $0.isLead })
        try agree(context, #Predicate { $0.name == "Ada" }, "name == \"Ada\"")
        try agree(context, #Predicate { $0.name != "Ada" })
        try agree(context, #Predicate { $0.name == nil }, "name == nil")
        try agree(context, #Predicate { ($0.name ?? "none") == "none" })
        try agree(context, #Predicate { $0.age % 3 == 1 })
        try agree(context, #Predicate { $0.age + 3 > 10 - $0.age })
        try agree(context, #Predicate { $0.age / 2 == -1 })
        try agree(context, #Predicate { -$0.pay < -20 })
        try agree(context, #Predicate { $0.age > 10 ? $0.isLead : $0.pay > 5 })
        let day = Date(timeIntervalSinceReferenceDate: 20000)
        try agree(context, #Predicate { $0.joined.flatMap { $0 > day } ?? false })
    }

    @Test func crossesRelationships() throws {
        let context = try open()
        try agree(context, #Predicate { $0.band?.founded == 1970 }, "band.founded == 1970")
        try agree(context, #Predicate { $0.band != nil && $0.band!.founded > 1970 })
        try agree(context, #Predicate { $0.band == nil })
        try agree(context, #Predicate { $0.band?.title.starts(with: "Band 1") == true })
        try agree(context, #Predicate { $0.band?.title.starts(with: "Band 1") ?? true })
        let large = try context.fetch(BandGroup.self, where: #Predicate { $0.members.count > 8 }, sort: \.title)
        #expect(large.map(\.members.count).allSatisfy { $0 > 8 } && !large.isEmpty)
        let empty = try context.fetch(BandGroup.self, where: #Predicate { $0.members.isEmpty })
        #expect(empty.map(\.title) == ["Band 4"])
        let rich = try context.fetch(BandGroup.self, where: #Predicate { $0.members.contains { $0.pay > 57 } })
        #expect(
            Set(rich.map(\.title))
                == Set(
                    try context.fetch(BandMember.self, where: #Predicate { $0.pay > 57 })
                        .compactMap(\.band?.title)))
        let few = try context.fetch(
            BandGroup.self, where: #Predicate { group in group.members.filter { $0.age > 30 }.count == 0 },
            sort: \.title)
        let bands = try context.fetch(BandGroup.self, sort: \.title)
        #expect(few == bands.filter { !$0.members.contains { $0.age > 30 } })
        let grown = try context.fetch(
            BandGroup.self, where: #Predicate { $0.members.allSatisfy { $0.age > -5 } }, sort: \.title)
        #expect(grown == bands.filter { $0.members.allSatisfy { $0.age > -5 } })
        #expect(grown.count < bands.count)
    }

    @Test func looksIntoTextsListsAndRanges() throws {
        let context = try open()
        try agree(context, #Predicate { $0.name?.contains("da") == true })
        try agree(context, #Predicate { $0.name?.localizedStandardContains("RENE") == true })
        try agree(context, #Predicate { $0.name?.localizedStandardContains("zoe") ?? false })
        let same = ComparisonResult.orderedSame
        try agree(context, #Predicate { $0.name?.caseInsensitiveCompare("ADA") == same })
        let names: [String?] = ["Ada", "中文"]
        try agree(context, #Predicate { names.contains($0.name) })
        let range: Range<Int64> = 3..<12
        try agree(context, #Predicate { range.contains($0.age) }, "age >= 3 AND age < 12")
        try agree(context, #Predicate { (3...12).contains($0.age) }, "age >= 3 AND age <= 12")
    }

    @Test func reportsWhatItCannotConvert() throws {
        let context = try open()
        let cast = #Predicate<BandMember> { $0.fixed == 3 }
        #expect(NSPredicate(cast) == nil)
        let error = try #require(throws: CocoaError.self) { try NSPredicate.parse(cast) }
        #expect(error.code.rawValue == 2048)
        #expect(error.localizedDescription.contains("is not a property"))
        #expect(throws: CocoaError.self) { try context.fetch(BandMember.self, where: cast) }
    }

    @Test func convertsExpressions() throws {
        // A key path is resolved by the models in use; the container keeps this one alive.
        try withExtendedLifetime(open()) {
            let double = #Expression<BandMember, Int64> { $0.age * 2 }
            let converted = try #require(NSExpression(double))
            #expect(converted.description == "age * 2")
        }
    }
}
