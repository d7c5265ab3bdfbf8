import CoreData
import Foundation
import TestSupport
import Testing

/// Verbs that are killed at any moment: a second run does the work, and leaves no more files than an undisturbed run.
@Suite(.needs(.process)) struct KilledVerbTests {
    /// One for each verb; with `ROSTER_LONG_TESTS=n`, 3 × n.
    private static let kills =
        ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }.map { 3 * $0 } ?? 1
    /// `RANDOM_SEED` sets another seed.
    private static let seed = ProcessInfo.processInfo.environment["RANDOM_SEED"].flatMap { UInt64($0) } ?? 41
    private static let count = 10

    private let original: SampleFolder
    private let folder: URL

    init() throws {
        original = try SampleFolder()
        folder = original.url.appendingPathComponent("work")
        let made = original.url.appendingPathComponent("made")
        try fill(made)
        try FileManager.default.moveItem(atPath: original.store, toPath: made.path + "/WorldCup.sqlite")
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    // MARK: Test data

    /// Creates three versions of a model, stores of the first with external values, a mapping model, and records.
    private func fill(_ made: URL) throws {
        let bundle = made.appendingPathComponent("Clips.xcdatamodeld")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        let models = [
            Self.model([("note", .stringAttributeType)]),
            Self.model([("note", .stringAttributeType), ("born", .dateAttributeType)]),
            Self.model([("note", .integer64AttributeType), ("born", .dateAttributeType)]),
        ]
        for (number, model) in models.enumerated() {
            try model.write(to: bundle.appendingPathComponent("Clips \(number + 1).xcdatamodel"))
        }
        let marker = ["_XCCurrentVersionName": "Clips 3.xcdatamodel"]
        try PropertyListSerialization.data(fromPropertyList: marker, format: .xml, options: 0)
            .write(to: bundle.appendingPathComponent(".xccurrentversion"))
        try Self.mapping(models[1], models[2]).write(to: made.appendingPathComponent("Clips.cdm"))
        func write(_ numbers: Range<Int>, _ byte: UInt8, to name: String) throws -> URL {
            let lines = numbers.map { number in
                let content = Data(repeating: byte &+ UInt8(number), count: 110_000).base64EncodedString()
                return "Clip \(number),\(number),\(content)\n"
            }
            let place = made.appendingPathComponent(name)
            try Data(("name,note,content\n" + lines.joined()).utf8).write(to: place)
            return place
        }
        let (records, first) = (
            try write(0..<Self.count, 0, to: "clips.csv"), bundle.path + "/Clips 1.xcdatamodel"
        )
        // About half of these records are already in the stores, with other contents.
        _ = try write(5..<Self.count + 5, 100, to: "more.csv")
        for name in ["Clips.sqlite", "Old.xml"] {
            let store = made.appendingPathComponent(name).path
            // An XML store does not contain a model.
            for arguments in [["create", store], ["import", store, "Clip", records.path]] {
                let outcome = try RosterProcess.run(arguments + ["--model", first])
                try #require(outcome.status == 0, "\(outcome.errors)")
            }
        }
    }

    private static func model(_ others: [(String, NSAttributeType)]) -> NSManagedObjectModel {
        let clip = NSEntityDescription()
        clip.name = "Clip"
        clip.managedObjectClassName = "NSManagedObject"
        clip.properties = ([("name", .stringAttributeType), ("content", .binaryDataAttributeType)] + others).map {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = ($0.0, $0.1, true)
            attribute.allowsExternalBinaryDataStorage = $0.0 == "content"
            return attribute
        }
        clip.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [clip]
        return model
    }

    private static func mapping(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> NSMappingModel {
        let mapping = NSEntityMapping()
        mapping.name = "Clip"
        mapping.mappingType = .customEntityMappingType
        mapping.sourceEntityName = "Clip"
        mapping.destinationEntityName = "Clip"
        mapping.sourceEntityVersionHash = source.entitiesByName["Clip"]?.versionHash
        mapping.destinationEntityVersionHash = destination.entitiesByName["Clip"]?.versionHash
        mapping.sourceExpression = NSExpression(
            format:
                #"FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Clip", "TRUEPREDICATE"), $manager.sourceContext, NO)"#
        )
        mapping.attributeMappings = ["born", "content", "name", "note"].map { name in
            let attribute = NSPropertyMapping()
            attribute.name = name
            attribute.valueExpression = NSExpression(
                format: name == "note" ? #"CAST($source.note, "NSNumber")"# : "$source.\(name)")
            return attribute
        }
        mapping.relationshipMappings = []
        let model = NSMappingModel()
        model.entityMappings = [mapping]
        return model
    }

    private func restore() throws {
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.copyItem(at: original.url.appendingPathComponent("made"), to: folder)
    }

    /// All names in the folder. Names of external values are unified, those of kept copies are omitted.
    private func names() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
            .filter { $0.wholeMatch(of: /\.?Clips\.before-migration(-\d)?(\.sqlite|_SUPPORT.*)/) == nil }
            .map { $0.replacing(/[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/, with: "UUID") }
            .sorted()
    }

    // MARK: Kills

    private struct Verb {
        let name: String
        let arguments: [String]
        /// A store in which all records and values have to be readable afterwards.
        var store: String?
        /// The model version of the store afterwards.
        var version = 1
        /// The number of records afterwards; `nil` if each run adds some.
        var count: Int? = KilledVerbTests.count
    }

    private var verbs: [Verb] {
        let (store, model) = (path("Clips.sqlite"), path("Clips.xcdatamodeld"))
        let first = model + "/Clips 1.xcdatamodel"
        return [
            Verb(
                name: "create", arguments: ["create", path("a.sqlite"), "--model", first], store: "a.sqlite", count: 0),
            Verb(name: "create xml", arguments: ["create", path("a.xml"), "--model", first], store: "a.xml", count: 0),
            Verb(name: "copy", arguments: ["copy", store, path("b.sqlite")], store: "b.sqlite"),
            Verb(name: "copy xml", arguments: ["copy", store, path("b.xml")], store: "b.xml"),
            Verb(
                name: "copy back", arguments: ["copy", path("Old.xml"), path("c.sqlite"), "--model", first],
                store: "c.sqlite"),
            Verb(name: "export", arguments: ["export", store, "Clip", path("out.json")]),
            Verb(name: "import", arguments: ["import", store, "Clip", path("clips.csv")], store: "Clips.sqlite"),
            Verb(name: "migrate", arguments: ["migrate", store, "--to", model], store: "Clips.sqlite", version: 3),
            Verb(
                name: "migrate and keep", arguments: ["migrate", store, "--to", model, "--keep-backup"],
                store: "Clips.sqlite", version: 3),
            Verb(
                name: "migrate xml", arguments: ["migrate", path("Old.xml"), "--to", model], store: "Old.xml",
                version: 3),
            Verb(
                name: "import others", arguments: ["import", store, "Clip", path("more.csv")], store: "Clips.sqlite",
                count: Self.count + 5),
            Verb(
                name: "import xml",
                arguments: ["import", path("Old.xml"), "Clip", path("more.csv"), "--model", first], store: "Old.xml",
                count: Self.count + 5),
            Verb(
                name: "insert", arguments: ["insert", store, "Clip", "name=New"], store: "Clips.sqlite",
                count: Self.count + 1),
            Verb(
                name: "update",
                arguments: ["update", store, "Clip", "note=x", "content=NULL", "--where", "note > '1'"],
                store: "Clips.sqlite"),
            Verb(
                name: "delete", arguments: ["delete", store, "Clip", "--where", "name ENDSWITH '1'"],
                store: "Clips.sqlite", count: Self.count - 1),
            Verb(
                name: "simulate", arguments: ["simulate", path("WorldCup.sqlite"), "--count", "60"],
                store: "WorldCup.sqlite", count: nil),
            Verb(
                name: "history", arguments: ["history", path("WorldCup.sqlite"), "--delete-before", "2"],
                store: "WorldCup.sqlite", count: nil),
            Verb(name: "check", arguments: ["check", store, "--repair"], store: "Clips.sqlite"),
            Verb(name: "model", arguments: ["model", store, "-o", path("Out.xcdatamodeld")]),
            Verb(name: "model compile", arguments: ["model", "compile", model, "-o", path("Out.momd")]),
            Verb(
                name: "model generate",
                arguments: ["model", "generate", SampleFolder.model, "--all", "-o", path("Classes")]),
        ]
    }

    private func check(_ verb: Verb, _ about: String) throws {
        guard let store = verb.store else { return }
        if store.hasSuffix(".sqlite") {
            let found = try RosterProcess.run(["check", path(store)])
            #expect(found.status == 0, "\(about): \(found)")
        }
        guard let expected = verb.count else { return }
        let model = ["--model", path("Clips.xcdatamodeld/Clips \(verb.version).xcdatamodel")]
        let count = try RosterProcess.run(["count", path(store), "Clip"] + model)
        #expect(count.output == "\(expected)", "\(about): \(count.errors)")
        let read = try RosterProcess.run(["export", path(store), "Clip", "--columns", "name,content"] + model)
        #expect(read.status == 0, "\(about): \(read.errors)")
    }

    @Test func aSecondRunDoesTheWorkAndLeavesNothing() throws {
        var state = Self.seed
        var (killed, refused) = (0, 0)
        for verb in verbs {
            try restore()
            let start = ContinuousClock.now
            let outcome = try RosterProcess.run(verb.arguments)
            let longest = (ContinuousClock.now - start) / .seconds(1)
            #expect(outcome.status == 0, "\(verb.name): \(outcome.errors)")
            let clean = try names()
            try check(verb, verb.name)
            for number in 0..<Self.kills {
                try restore()
                let process = try LiveProcess(roster: verb.arguments)
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                usleep(UInt32(longest * Double(state >> 11) / Double(1 << 53) * 1e6))
                if process.isRunning { killed += 1 }
                process.killAtOnce()
                process.waitForEnd()
                let about = "\(verb.name), kill \(number), seed \(Self.seed)"
                let isDone = try Set(names()).isSuperset(of: clean)
                let second = try RosterProcess.run(verb.arguments)
                if second.status != 0 { refused += 1 }
                // The first run had already done all of it.
                let isThere = isDone && second.errors.contains("already")
                #expect(second.status == 0 || isThere, "\(about): \(second.errors)")
                let left = try names()
                #expect(
                    left == clean,
                    "\(about): left \(Set(left).subtracting(clean)), lacks \(Set(clean).subtracting(left))")
                try check(verb, about)
            }
        }
        print(
            "kills of verbs, seed \(Self.seed): \(Self.kills) of each of \(verbs.count), at work \(killed), done before \(refused)"
        )
        #expect(killed > 0)
    }
}
