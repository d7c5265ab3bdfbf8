import Foundation
import Testing

/// What `DIVERGENCES.md` says is shown by the tests that it names.
@Suite struct DivergenceTests {
    private static let text =
        (try? String(contentsOf: SourceTree.root.appendingPathComponent("DIVERGENCES.md"), encoding: .utf8)) ?? ""

    /// The text of all tests.
    private static let tests: String = {
        let base = SourceTree.root.appendingPathComponent("Tests")
        let found = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil)
        let files = found?.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" } ?? []
        return files.compactMap { try? String(contentsOf: $0, encoding: .utf8) }.joined()
    }()

    @Test func everyTestThatIsNamedIsThere() throws {
        let names = Self.text.matches(of: /`([A-Z]\w+Tests)(?:\.(\w+))?`/)
        #expect(names.count > 50)
        for name in names {
            #expect(Self.tests.contains(try Regex("(struct|class) \(name.1)\\b")), "\(name.0)")
            if let test = name.2 { #expect(Self.tests.contains(try Regex("func \(test)\\(")), "\(name.0)") }
        }
    }
}
