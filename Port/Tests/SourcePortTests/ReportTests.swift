import Foundation
import SourcePort
import Testing

/// Reports about whole programs.
@Suite struct ReportTests {
    private func report(_ files: [String: String]) -> PortReport {
        let facts = PortFacts(of: files.values.map { Array($0.utf8) })
        var report = PortReport()
        for (path, text) in files.sorted(by: { $0.key < $1.key }) {
            report.add(SourcePort.port(Array(text.utf8), knowing: facts), path: path)
        }
        return report
    }

    private let program = [
        "Note.swift": """
        import CoreData
        final class Note: NSManagedObject {
            @objc var initial: String { "" }
            @objc var short: String { "" }
            let container = NSPersistentCloudKitContainer(name: "Notes")
        }
        """,
        "Tag.swift": """
        import CoreData
        final class Tag: NSManagedObject { @objc var short: String { "" } }
        let names = NSClassFromString("Tag")
        """,
        "Text.swift": "let text = \"open\n",
    ]

    @Test func aSentenceIsShownOnce() {
        let report = report(program)
        #expect(report.files == 2 && report.edits == 4)
        #expect(report.placesLeft == 5)
        #expect(
            report.left.map { "\($0.kind.rawValue) \($0.places)" } == [
                "unread files 1", "Objective-C 3", "class names 1",
            ])
        let lines = report.groups.map(\.line)
        #expect(lines.count == 4)
        #expect(lines[0].hasSuffix(": Text.swift:1"))
        #expect(lines[1].hasPrefix("initial, short: value(forKey:), "))
        #expect(lines[1].hasSuffix(": Note.swift:3, Note.swift:4, Tag.swift:2"))
        #expect(lines[2].hasSuffix(": Tag.swift:3"))
        // Porting made this change: nothing is left to do.
        #expect(!report.groups[3].isLeft && lines[3].hasSuffix(" with iCloud: Note.swift:5"))
    }

    @Test func nothingIsLeftOfAProgramThatIsPorted() {
        let report = report([
            "Note.swift": "import CoreData\nclass Note: NSManagedObject { @NSManaged var title: String? }\n"
        ])
        #expect(report.files == 1 && report.edits == 1 && report.placesLeft == 0)
        #expect(report.left.isEmpty && report.groups.isEmpty)
    }

    @Test func scriptsReadIt() throws {
        let data = try JSONEncoder().encode(report(program))
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["placesLeft"] as? Int == 5 && object["files"] as? Int == 2 && object["edits"] as? Int == 4)
        let groups = try #require(object["groups"] as? [[String: Any]])
        #expect(groups.count == 4 && groups[1]["kind"] as? String == "Objective-C")
        let places = try #require(groups[1]["places"] as? [[String: Any]])
        #expect(places.count == 3 && places[2]["path"] as? String == "Tag.swift" && places[2]["line"] as? Int == 2)
    }
}
