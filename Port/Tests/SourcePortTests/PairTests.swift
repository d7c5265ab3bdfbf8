import Foundation
import SourcePort
import Testing

/// Ports the files of `Pairs`, one for each kind of change.
@Suite struct PairTests {
    @Test func thereAreSome() { #expect(Pair.all.count >= 18) }

    @Test(arguments: Pair.all)
    func becomesWhatStandsThere(_ pair: Pair) throws {
        let file = ported(pair.before)
        #expect(file.string == pair.after)
        #expect(file.noteLines == pair.notes)
        #expect(file.changesOnlyWhatItSays)
    }

    @Test(arguments: Pair.all)
    func portedAgainItStays(_ pair: Pair) {
        let again = ported(pair.after)
        #expect(again.edits.isEmpty, "\(again.diff(path: pair.name))")
    }

    /// Windows line breaks and a byte order mark are kept.
    @Test(arguments: Pair.all)
    func lineBreaksStay(_ pair: Pair) {
        func windows(_ text: String) -> String { "\u{FEFF}" + text.replacingOccurrences(of: "\n", with: "\r\n") }
        let file = ported(windows(pair.before))
        #expect(file.string == windows(pair.after))
        #expect(file.notes.map(\.message) == ported(pair.before).notes.map(\.message))
    }

    @Test(arguments: Pair.all)
    func aFileWithoutALastLineBreakBecomesTheSame(_ pair: Pair) {
        let file = ported(String(pair.before.dropLast()))
        #expect(file.string.trimmingCharacters(in: .newlines) == pair.after.trimmingCharacters(in: .newlines))
        #expect(ported(file.text).edits.isEmpty)
    }

    /// Superclasses and extensions in other files are taken into account.
    @Test func filesOfAProgramKnowOneAnother() {
        let files = [
            "import CoreData\nclass Note: Record {}\n", "import CoreData\nclass Record: NSManagedObject {}\n",
            "import UIKit\nclass NoteList: UITableViewController {}\n",
            "import CoreData\nextension Note { @objc var short: String { \"\" } }\nextension NoteList: Opening {}\n",
        ].map { Array($0.utf8) }
        let facts = PortFacts(of: files)
        let last = SourcePort.port(files[3], knowing: facts)
        #expect(last.notes.count == 2 && last.notes[0].message.hasPrefix("short: value(forKey:), "))
        #expect(
            last.string == """
                import CoreData
                extension Note { var short: String { "" } }
                #if canImport(UIKit)
                extension NoteList: Opening {}
                #endif

                """)
    }
}
