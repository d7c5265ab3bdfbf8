import CoreData
import Foundation
import Synchronization
import Testing

@testable import RosterCommands

@Suite struct EditCommandTests {
    private let sample: SampleStore
    private let surroundings = TestSurroundings()

    init() throws { sample = try SampleStore() }

    private func insert(_ assignments: [String], into entity: String = "Team", isDryRun: Bool = false) throws {
        try InsertCommand(
            store: sample.location, entity: entity, assignments: try assignments.map(Assignment.init),
            isDryRun: isDryRun
        ).run(in: surroundings.surroundings())
    }

    private func update(
        _ predicate: String, _ assignments: [String], isDryRun: Bool = false, format: OutputFormat = .table
    ) throws {
        try UpdateCommand(
            store: sample.location, entity: "Team", predicate: predicate,
            assignments: try assignments.map(Assignment.init), isDryRun: isDryRun, format: format
        ).run(in: surroundings.surroundings())
    }

    private func delete(_ predicate: String, from entity: String = "Team", isDryRun: Bool = false) throws {
        try DeleteCommand(store: sample.location, entity: entity, predicate: predicate, isDryRun: isDryRun)
            .run(in: surroundings.surroundings())
    }

    // MARK: insert

    @Test func insertsWithDefaultsAndRelationships() throws {
        try insert(["teamName=Testland", "qualifyingZone=XYZ", "homeVenue=Maracanã", "firstAppearance=2026-06-11"])
        #expect(surroundings.text.hasPrefix("inserted Team Testland: "))
        #expect(try sample.value("wins", ofTeam: "Testland") == "0")
        #expect(try sample.value("homeVenue", ofTeam: "Testland") == "Maracanã")
        #expect(try sample.value("firstAppearance", ofTeam: "Testland") == "2026-06-11T00:00:00Z")
    }

    @Test func dryRunOfInsertChangesNothing() throws {
        try insert(["teamName=Testland", "qualifyingZone=XYZ"], isDryRun: true)
        #expect(surroundings.text.hasPrefix("would insert Team Testland: "))
        #expect(try sample.count("Team") == 80)
        let error = #expect(throws: CommandError.self) {
            try insert(["teamName=Japan", "qualifyingZone=AFC"], isDryRun: true)
        }
        #expect(error?.message == "Team Japan already exists")
    }

    @Test(arguments: [
        (["teamName=X", "qualifyingZone=Y", "wins=abc"], "wins: “abc” is not a whole number"),
        (
            ["teamName=X", "qualifyingZone=Y", "wins=99999999999"],
            "wins: “99999999999” is out of range: Integer 32 must be"
        ),
        (["teamName=X", "qualifyingZone=Y", "titles=40000"], "Integer 16 must be -32768 to 32767"),
        (["teamName=X", "qualifyingZone=Y", "favorite=maybe"], "favorite: “maybe” is not true or false"),
        (
            ["teamName=X", "qualifyingZone=Y", "firstAppearance=yesterday"],
            "firstAppearance: “yesterday” is not a date"
        ),
        (["teamName=X", "zone=Y"], "no property “zone”"), (["teamName"], "is not an assignment"),
        (["=x"], "is not an assignment"),
    ]) func refusesValuesThatCannotBe(assignments: [String], reason: String) throws {
        let error = #expect(throws: CommandError.self) { try insert(assignments) }
        #expect(error?.kind == .misuse)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(try sample.count("Team") == 80)
    }

    @Test func refusesAMissingDestination() throws {
        let error = #expect(throws: CommandError.self) {
            try insert(["teamName=X", "qualifyingZone=Y", "homeVenue=Nowhere"])
        }
        #expect(error?.kind == .failure)
        #expect(error?.message == "homeVenue: “Nowhere” not found: no Venue has this name")
    }

    private func teams(of venue: String) throws -> Set<String> {
        var names: Set<String> = []
        for team in ["Japan", "Brazil", "Uruguay"]
        where try sample.value("homeVenue", ofTeam: team) == venue { names.insert(team) }
        return names
    }

    /// A to-many relationship accepts a list of the values that a to-one relationship accepts.
    @Test func insertsAndUpdatesWithLists() throws {
        try insert(["name=New Ground", #"teams=["Japan", "Brazil", "Japan"]"#], into: "Venue")
        #expect(try teams(of: "New Ground") == ["Japan", "Brazil"])
        #expect(surroundings.text.contains(#"teams [] → ["Brazil","Japan"]"#), "\(surroundings.text)")
        func set(_ list: String, isDryRun: Bool = false) throws {
            try UpdateCommand(
                store: sample.location, entity: "Venue", predicate: "name == 'New Ground'",
                assignments: [Assignment("teams=" + list)], isDryRun: isDryRun
            ).run(in: surroundings.surroundings())
        }
        try set(#"["Japan","Uruguay"]"#, isDryRun: true)
        #expect(try teams(of: "New Ground") == ["Japan", "Brazil"])
        try set(#"["Japan","Uruguay"]"#)
        #expect(try teams(of: "New Ground") == ["Japan", "Uruguay"])
        try set("[]")
        #expect(try teams(of: "New Ground") == [])
        try set(#"["Brazil"]"#)
        try set("NULL")
        #expect(try teams(of: "New Ground") == [])
    }

    @Test(arguments: [
        (#"["Nowhere"]"#, CommandError.Kind.failure, "not found: no Team has this teamName"),
        ("Japan", .misuse, "is not a list: a to-many relationship needs"),
        (#"["Japan""#, .misuse, "is not a list: a to-many relationship needs"), (#"{"a":1}"#, .misuse, "is not a list"),
        (#"["Japan"] x"#, .misuse, "unexpected text after the value"), ("", .misuse, "is not a list"),
        (#"[["Japan"]]"#, .failure, "teams: "),
    ]) func refusesInvalidLists(list: String, kind: CommandError.Kind, reason: String) throws {
        let error = #expect(throws: CommandError.self) { try insert(["name=X", "teams=" + list], into: "Venue") }
        #expect(error?.kind == kind)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(try sample.count("Venue", where: "name == 'X'") == 0)
    }

    @Test(arguments: [
        ["qualifyingZone=UEFA"], ["teamName=X", "qualifyingZone=Y", "wins=-1"], ["teamName=", "qualifyingZone=Y"],
        ["teamName=Japan", "qualifyingZone=AFC"], ["teamName=NULL", "qualifyingZone=AFC"],
    ]) func validationAndUniquenessHold(assignments: [String]) throws {
        let error = #expect(throws: (any Error).self) { try insert(assignments) }
        let line = CommandError.line(for: try #require(error))
        #expect(!line.isEmpty && !line.contains("\n"))
        #expect(try sample.count("Team") == 80)
    }

    /// The error names the record that another program changed between reading and saving.
    @Test func aConflictNamesTheRecord() throws {
        let session = try StoreSession(sample.location, for: .writing, in: surroundings.surroundings())
        let error = #expect(throws: (any Error).self) {
            try session.perform {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
                request.fetchLimit = 5
                let teams = try session.context.fetch(request)
                for team in teams { team.setValue(1, forKey: "wins") }
                for team in teams {
                    let name = team.value(forKey: "teamName") as? String ?? ""
                    try update("teamName == '\(name)'", ["wins=99"])
                }
                try session.context.save()
            }
        }
        let line = CommandError.line(for: try #require(error))
        let form = /.*another program changed (Team\/p\d+, ){2}Team\/p\d+ and 2 more at the same time\. Try again/
        #expect(line.wholeMatch(of: form) != nil, "\(line)")
    }

    /// Records without attributes can be edited, too.
    @Test func entitiesWithoutAttributesAreEdited() throws {
        let folder = try TemporaryFolder()
        let model = """
            <model><entity name="Mark"><relationship name="next" optional="YES" maxCount="1" destinationEntity="Mark" \
            inverseName="last" inverseEntity="Mark"/><relationship name="last" optional="YES" maxCount="1" \
            destinationEntity="Mark" inverseName="next" inverseEntity="Mark"/><relationship name="team" optional="YES" \
            maxCount="1" destinationEntity="Team" inverseName="marks" inverseEntity="Team"/></entity><entity name="Team">\
            <relationship name="marks" optional="YES" toMany="YES" destinationEntity="Mark" inverseName="team" \
            inverseEntity="Mark"/></entity></model>
            """
        let source = try folder.file("contents", model)
        let store = StoreLocation(store: folder.path("m.sqlite"))
        try CreateCommand(store: folder.path("m.sqlite"), model: source).run(in: surroundings.surroundings())
        for assignments in [[], ["next=Mark/p1"]] {
            try InsertCommand(store: store, entity: "Mark", assignments: assignments.map(Assignment.init))
                .run(in: surroundings.surroundings())
        }
        try UpdateCommand(
            store: store, entity: "Mark", predicate: "next != NULL", assignments: [Assignment("last=Mark/p1")]
        ).run(in: surroundings.surroundings())
        #expect(surroundings.lines.last == "updated 1 of 1 that match")
        try ExportCommand(store: store, entity: "Mark", format: .json).run(in: surroundings.surroundings())
        #expect(surroundings.lines.suffix(2).allSatisfy { $0.hasPrefix("{\"last\":\"x-coredata://") })
        try DeleteCommand(store: store, entity: "Mark", predicate: "TRUEPREDICATE").run(in: surroundings.surroundings())
        #expect(surroundings.lines.last == "deleted 2")
        // A new record is shown in a list as `new Entity` until it has an ID.
        try InsertCommand(store: store, entity: "Team", assignments: [Assignment(#"marks=[{"next":null}]"#)])
            .run(in: surroundings.surroundings())
        #expect(surroundings.lines.last == #"inserted Team Team/p1: marks [] → ["new Mark"]"#)
        // A record without columns is shown by its URI.
        try ListCommand(store: store, entity: "Team").run(in: surroundings.surroundings())
        #expect(surroundings.lines.last?.hasPrefix("x-coredata://") == true)
    }

    // MARK: update

    /// Another program saves between reading and saving, twice.
    @Test(arguments: [0, 1, 2]) func conflictsAreTriedAgain(retries: Int) throws {
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: try NSPersistentStoreCoordinator.cachedModelForPersistentStore(
                at: URL(fileURLWithPath: sample.location.store)))
        try coordinator.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: sample.location.store))
        let other = NSManagedObjectContext(.privateQueue)
        other.persistentStoreCoordinator = coordinator
        let saves = Mutex(0)
        let path = sample.location.store
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.willSaveObjectsNotification, object: nil, queue: nil
        ) { notification in
            let saving = (notification.object as? NSManagedObjectContext)?.persistentStoreCoordinator
            guard let saving, saving !== coordinator, saving.persistentStores.first?.url?.path == path else { return }
            guard
                saves.withLock({
                    $0 += 1; return $0 <= 2
                })
            else { return }
            try? other.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
                request.predicate = NSPredicate(format: "teamName == 'Japan'")
                let team = try other.fetch(request).first
                team?.setValue((team?.value(forKey: "draws") as? Int ?? 0) + 1, forKey: "draws")
                try other.save()
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let before = Int(try sample.value("draws", ofTeam: "Japan") ?? "") ?? 0
        let command = UpdateCommand(
            store: sample.location, entity: "Team", predicate: "teamName == 'Japan'",
            assignments: [try Assignment("wins=77")], retries: retries)
        if retries < 2 {
            let error = try #require(throws: CocoaError.self) { try command.run(in: surroundings.surroundings()) }
            #expect(error.code == .managedObjectMerge)
        } else {
            try command.run(in: surroundings.surroundings())
            #expect(surroundings.lines.last == "updated 1 of 1 that match")
        }
        #expect((try sample.value("wins", ofTeam: "Japan") == "77") == (retries == 2))
        #expect(try sample.value("draws", ofTeam: "Japan") == "\(before + min(retries + 1, 2))")
    }

    @Test func updatesAllThatMatch() throws {
        try update("qualifyingZone == 'OFC'", ["wins=3", "localName=NULL", "bestFinish=\\NULL"])
        #expect(try sample.value("wins", ofTeam: "New Zealand") == "3")
        #expect(try sample.value("bestFinish", ofTeam: "New Zealand") == "NULL")
        #expect(try sample.value("localName", ofTeam: "New Zealand") == nil)
        #expect(
            surroundings.lines == [
                "updated Team New Zealand: bestFinish \"Group stage\" → \"NULL\", localName \"Aotearoa\" → NULL, wins 0 → 3",
                "updated 1 of 1 that match",
            ])
    }

    @Test func dryRunOfUpdatePrintsOldAndNew() throws {
        try update("teamName == 'Japan'", ["wins=8", "homeVenue=Nagai Stadium"], isDryRun: true, format: .csv)
        #expect(try sample.value("wins", ofTeam: "Japan") == "7")
        let lines = surroundings.lines
        #expect(lines[0] == "change,object,key,old,new")
        #expect(lines.contains { $0.hasPrefix("would update,x-coredata://") && $0.hasSuffix(",wins,7,8") })
        #expect(lines.contains { $0.hasSuffix(",homeVenue,Saitama Stadium 2002,Nagai Stadium") })
    }

    @Test func anUpdateWithEqualValuesChangesNothing() throws {
        try update("teamName == 'Japan'", ["wins=7"])
        #expect(surroundings.lines == ["updated 0 of 1 that match"])
    }

    @Test func aRefusedUpdateChangesNoRecord() throws {
        #expect(throws: (any Error).self) { try update("qualifyingZone == 'UEFA'", ["wins=-5"]) }
        #expect(try sample.count("Team", where: "wins < 0") == 0)
    }

    // MARK: delete

    @Test func deletesWithWhatTheRulesTake() throws {
        try delete("name == 'Maracanã'", from: "Venue")
        #expect(try sample.count("Venue") == 256)
        #expect(try sample.count("Location") == 256)
        #expect(try sample.value("homeVenue", ofTeam: "Brazil") == nil)
        #expect(surroundings.lines.first == "deleted Venue Maracanã")
        #expect(surroundings.lines.last == "deleted 1, and 1 related ones by delete rules")
    }

    @Test func dryRunOfDeleteChangesNothing() throws {
        try delete("qualifyingZone == 'OFC'", isDryRun: true)
        #expect(surroundings.lines == ["would delete Team New Zealand", "would delete 1"])
        #expect(try sample.count("Team") == 80)
    }
}
