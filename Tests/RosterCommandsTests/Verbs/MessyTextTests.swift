import CoreData
import Foundation
import Testing

@testable import RosterCommands

/// CSV as people have it: any delimiter and encoding, bad lines, and numbers with separators.
@Suite struct MessyTextTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    /// Imports bytes as a file of teams.
    private func load(
        _ data: Data, encoding: TextEncoding? = nil, skipsBad: Bool = false, batchSize: Int = 1000,
        isDryRun: Bool = false, _ surroundings: TestSurroundings = TestSurroundings()
    ) throws -> ImportCommand.Counts {
        let path = sample.folder.path("messy.csv")
        try data.write(to: URL(fileURLWithPath: path))
        return try ImportCommand(
            store: sample.location, entity: "Team", file: path, encoding: encoding, skipsBad: skipsBad,
            batchSize: batchSize, isDryRun: isDryRun
        ).run(in: surroundings.surroundings())
    }

    private func load(
        _ text: String, skipsBad: Bool = false, batchSize: Int = 1000,
        _ surroundings: TestSurroundings = TestSurroundings()
    ) throws -> ImportCommand.Counts {
        try load(Data(text.utf8), skipsBad: skipsBad, batchSize: batchSize, surroundings)
    }

    // MARK: Delimiters

    @Test(arguments: [
        "teamName;wins;localName\nJapan;42;a, b\n", "teamName\twins\tlocalName\nJapan\t42\ta, b\n",
        "teamName|wins|localName\nJapan|42|a, b\n", "teamName,wins,localName\r\nJapan,42,\"a, b\"\r\n",
        "teamName;wins;localName\n\n\"Japan\";42;\"a, b\"", "teamName,wins,localName\rJapan,42,\"a, b\"\r",
    ]) func theDelimiterIsGuessed(text: String) throws {
        #expect(try load(text).updated == 1)
        #expect(try sample.value("wins", ofTeam: "Japan") == "42")
        #expect(try sample.value("localName", ofTeam: "Japan") == "\"a, b\"")
    }

    @Test func theDelimiterOfAllLinesWins() {
        func guess(_ text: String) -> Character {
            Character(Unicode.Scalar(DelimiterGuess.separator(of: Array(text.utf8)[...])))
        }
        #expect(guess("a,b;c\n1,2;3\n") == ",")
        #expect(guess("Name;Size, cm\nx;1,5\ny;2\n") == ";")
        #expect(guess("\"a;b;c\",d\n\"1;2\n;3\",4\n") == ",")
        #expect(guess("name\nx;y\n") == ",")
        #expect(guess("") == "," && guess("\n\n") == ",")
        #expect(guess("a;b;c,d") == ";")
    }

    // MARK: Encodings

    @Test func otherEncodingsAreRead() throws {
        let text = "teamName,localName\nJapan,Größe “ß” €\n"
        let latin = Data(
            "teamName,localName\nJapan,Gr".utf8 + [0xF6, 0xDF] + "e ".utf8 + [0x93, 0xDF, 0x94, 0x20, 0x80, 0x0A])
        let error = #expect(throws: CommandError.self) { try load(latin) }
        #expect(error?.message.contains(":2: ") == true && error?.message.contains("--encoding latin-1") == true)
        #expect(try load(latin, encoding: .latin1).updated == 1)
        #expect(try sample.value("localName", ofTeam: "Japan") == "Größe “ß” €")
        for (encoding, own) in [
            (String.Encoding.utf16LittleEndian, TextEncoding.utf16LittleEndian), (.utf16BigEndian, .utf16BigEndian),
        ] {
            let plain = try #require(text.replacing("ß", with: "日本🏆").data(using: encoding))
            let error = #expect(throws: CommandError.self) { try load(plain) }
            #expect(
                error?.message.contains("Add --encoding \(own.rawValue)") == true, "\(String(describing: error))")
            _ = try load(plain, encoding: own)
            #expect(try sample.value("localName", ofTeam: "Japan") == "Grö日本🏆e “日本🏆” €")
        }
        // A mark wins over the flag.
        _ = try load(Data([0xEF, 0xBB, 0xBF] + text.utf8), encoding: .latin1)
        #expect(try sample.value("localName", ofTeam: "Japan") == "Größe “ß” €")
    }

    // MARK: Bad lines

    private static let bad = """
        teamName,wins,qualifyingZone
        Narnia,1,AFC
        Too,2,AFC,many
        few
        Stray,3"x,AFC
        "Quoted"x,4,AFC
        Text,many,AFC
        ,5,AFC
        Négative,-6,AFC
        日本二号,7,AFC

        """

    @Test(arguments: [1, 2, 1000]) func badLinesAreSkippedAndTold(batchSize: Int) throws {
        let surroundings = TestSurroundings()
        let counts = try load(Self.bad, skipsBad: true, batchSize: batchSize, surroundings)
        #expect(counts.inserted == 2 && counts.skipped == 7)
        #expect(surroundings.lines == ["imported 2 records: 2 new, 0 changed, 0 unchanged; 7 skipped"])
        let lines = surroundings.notes.compactMap { $0.firstMatch(of: /messy\.csv:(\d+): record/)?.1 }.compactMap {
            Int($0)
        }
        #expect(lines.sorted() == [3, 4, 5, 6, 7, 8, 9], "\(surroundings.notes)")
        #expect(try sample.count("Team") == 82)
        // Without the flag the first one ends the import.
        let error = #expect(throws: CommandError.self) { try load(Self.bad, batchSize: batchSize) }
        #expect(error?.message.contains("messy.csv:3: record 2: has 4 fields, but the first line has 3") == true)
    }

    @Test func aFieldWithoutAnEndIsToldWhereItBegins() throws {
        let text = "teamName,wins,qualifyingZone\nNarnia,1,AFC\n\"Lost,2,AFC\nNext,3,AFC\n"
        for skipsBad in [false, true] {
            let error = #expect(throws: CommandError.self) { try load(text, skipsBad: skipsBad) }
            #expect(error?.message.contains("messy.csv:3: record 2: missing closing quotation mark") == true)
        }
    }

    @Test func manySkippedLinesAreCounted() throws {
        let surroundings = TestSurroundings()
        let text = "teamName,wins\n" + (0..<50).map { "x\($0)\n" }.joined()
        #expect(try load(text, skipsBad: true, surroundings).skipped == 50)
        #expect(surroundings.notes.count == 21 && surroundings.notes.last == "30 more records were skipped")
    }

    // MARK: Numbers

    @Test(arguments: [
        ("1 234", "1234"), ("1\u{A0}234\u{202F}567", "1234567"), ("1'234", "1234"), ("1’234", "1234"),
        ("1,234,567", "1234567"), ("1.234.567", "1234567"), (" 42 ", "42"), ("0042", "42"),
    ]) func wholeNumbersMayHaveSeparators(written: String, read: String) throws {
        _ = try load("teamName;wins\nJapan;\"\(written)\"\n")
        #expect(try sample.value("wins", ofTeam: "Japan") == read)
    }

    @Test(arguments: [
        ("1.234,5", 1234.5), ("1,234.5", 1234.5), ("1 234,567", 1234.567), ("1'234.25", 1234.25), ("12,5", 12.5),
        ("0,125", 0.125), ("\u{2212}7,25", -7.25), ("1234,567", 1234.567), ("1.234", 1.234), ("1e3", 1000),
        ("1,234,567.5", 1_234_567.5),
    ]) func realNumbersMayHaveSeparators(written: String, read: Double) throws {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType) = ("size", .doubleAttributeType)
        #expect(try ValueParser.value(from: .string(written), for: attribute) as? Double == read)
        attribute.attributeType = .decimalAttributeType
        let decimal = try ValueParser.value(from: .string(written), for: attribute) as? NSDecimalNumber
        #expect(decimal?.doubleValue == read)
    }

    @Test(arguments: [
        ("1,234", "may be 1234 or 1.234"), ("-12,345", "may be -12345 or -12.345"), ("1,23,4", "is not a"),
        ("12 34", "is not a"), ("1,2.3,4", "is not a"), ("1.2.3", "is not a"), ("1 234.", "is not a"),
        (",5", "is not a"),
        ("1 000 kg", "is not a"), ("", "is not a"), ("١٢", "is not a"),
    ]) func otherNumbersAreRefused(written: String, reason: String) throws {
        let attribute = NSAttributeDescription()
        attribute.name = "size"
        for type in [NSAttributeType.integer32AttributeType, .doubleAttributeType, .decimalAttributeType] {
            attribute.attributeType = type
            let problem = #expect(throws: ValueProblem.self) {
                try ValueParser.value(from: .string(written), for: attribute)
            }
            #expect(problem?.reason.contains(reason) == true, "\(written): \(problem?.reason ?? "")")
        }
    }
}
