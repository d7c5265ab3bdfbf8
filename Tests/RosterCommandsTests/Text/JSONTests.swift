import Foundation
import Testing

@testable import RosterCommands

@Suite struct JSONTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func parse(_ text: String) throws -> JSONValue {
        let parser = JSONParser(try ByteReader(path: try folder.file("value.json", text)))
        let value = try parser.value()
        #expect(parser.nextMark() == nil)
        return value
    }

    @Test func keepsDigitsAndOrder() throws {
        let text = #"{"b":1.50,"a":-0,"n":9223372036854775807,"e":1e-7,"l":[true,false,null,[],{}],"s":"日本"}"#
        #expect(try parse(text).text == text)
    }

    @Test func readsEscapesAndWritesThem() throws {
        let value = try parse(#""\u65e5\ud83d\ude00\n\t\"\\\/\u0000\u007f""#)
        #expect(value == .string("日😀\n\t\"\\/\0\u{7F}"))
        #expect(value.text == #""日😀\n\t\"\\/\u0000\u007f""#)
        #expect(try parse(value.text) == value)
    }

    @Test(arguments: [
        ("", "the end of the text"), ("{", "the end of the text"), (#"{"a":1"#, "the end of the text"),
        (#""abc"#, "ends inside a string"),
        ("[1,]", "found “]”"), ("{a:1}", "a key in quotation marks"), ("01", "malformed number"),
        ("1.", "malformed number"),
        ("-", "malformed number"), ("nul", "expected “null”"), (#""\x""#, "unknown escape"),
        (#""\ud800""#, "surrogate"), ("\"a\nb\"", "control character"), ("'a'", "found “'”"),
    ]) func refused(text: String, reason: String) throws {
        let error = #expect(throws: JSONParser.SyntaxError.self) {
            let parser = JSONParser(try ByteReader(path: try folder.file("value.json", text)))
            _ = try parser.value()
            if parser.nextMark() != nil { throw parser.error("more") }
        }
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }

    @Test func deepNestingIsRefusedNotFatal() throws {
        let text = String(repeating: "[", count: 100_000)
        #expect(throws: JSONParser.SyntaxError.self) { try parse(text) }
    }

    @Test func invalidUTF8IsRefused() throws {
        try Data([0x22, 0xFF, 0x22]).write(to: folder.url.appendingPathComponent("bad.json"))
        let parser = JSONParser(try ByteReader(path: folder.path("bad.json")))
        #expect(throws: JSONParser.SyntaxError.self) { try parser.value() }
    }

    @Test func errorsContainTheLine() throws {
        let error = #expect(throws: JSONParser.SyntaxError.self) { try parse("{\n\"a\": 1,\n\"b\": x}") }
        #expect(error?.line == 3)
    }
}
