import Foundation
import Testing

/// The names in ARCHITECTURE.md exist in the code.
@Suite struct GlossaryTests {
    private static let text =
        (try? String(contentsOf: SourceTree.root.appendingPathComponent("ARCHITECTURE.md"), encoding: .utf8)) ?? ""

    /// Every word of the sources and tests, and of their file paths.
    private static let words: Set<String> = {
        var words: Set<String> = []
        for folder in ["Sources", "Tests", "Plugins", "Examples", "Port/Sources"] {
            for file in SourceTree.texts(below: folder, ["swift", "c", "h"]) {
                words.formUnion((file.path + " " + file.content).matches(of: /\w+/).map { String($0.0) })
            }
        }
        return words
    }()

    /// Names of types, folders, files and members, which ARCHITECTURE.md writes in code style.
    @Test func everyNameInArchitectureIsInUse() {
        let names = Self.text.matches(of: /`([^`\n]+)`/).flatMap {
            $0.1.matches(of: /[A-Za-z_]\w+/).map { String($0.0) }
        }
        #expect(names.count > 150)
        for name in Set(names).subtracting(Self.words).subtracting(["Benchmarks"]).sorted() {
            Issue.record("ARCHITECTURE.md names \(name), which is nowhere")
        }
    }

    /// The third column of the glossary, which names the code of each word.
    @Test func everyWordOfTheGlossaryNamesItsCode() throws {
        let glossary = try #require(Self.text.firstRange(of: "## Words"))
        let rows = Self.text[glossary.upperBound...].prefix { $0 != "#" }.matches(
            of: /\n\| ([^|]+) \| [^|]+ \| ([^|]+) \|/)
        #expect(rows.count > 15)
        for row in rows.dropFirst(2) {
            let isNamed = row.2 == "–" || row.2.contains("`")
            #expect(isNamed, "\(row.1)")
        }
    }
}
