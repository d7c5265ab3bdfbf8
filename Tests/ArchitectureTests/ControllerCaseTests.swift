import Foundation
import Testing

/// The cases that results controllers are held to, each by its number.
@Suite struct ControllerCaseTests {
    /// The numbers in the names of tests: `case26And49_insertion` shows 26 and 49.
    static let shown: Set<Int> = {
        let base = SourceTree.root.appendingPathComponent("Tests/CoreDataTests/ResultsController")
        let files = (try? FileManager.default.contentsOfDirectory(at: base, includingPropertiesForKeys: nil)) ?? []
        var numbers: Set<Int> = []
        for file in files {
            guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
            for name in text.matches(of: /func case(\d+(?:And\d+)*)_/) {
                numbers.formUnion(name.1.split(separator: "And").compactMap { Int($0) })
            }
        }
        return numbers
    }()

    @Test func everyCaseHasATestThatBearsItsNumber() {
        let missing = (1...82).filter { !Self.shown.contains($0) }
        #expect(missing.isEmpty, "no test is named after the cases \(missing)")
        #expect(Self.shown.allSatisfy { (1...82).contains($0) })
    }

    /// What users of such lists complain of, in `Documentation/ResultsControllers.md`: each has tests, or says why it has none.
    @Test func everyComplaintHasATestOrAReason() throws {
        let page = SourceTree.root.appendingPathComponent("Documentation/ResultsControllers.md")
        let rows = try String(contentsOf: page, encoding: .utf8).matches(of: /\| (\d+) \| [^|]+ \| ([^|]+) \|/)
        #expect(rows.compactMap { Int($0.1) } == Array(1...22))
        let tests = SourceTree.root.appendingPathComponent("Tests/CoreDataTests")
        var suites: [String: String] = [:]
        for case let file as URL in FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
            ?? .init()
        where file.pathExtension == "swift" {
            suites[file.deletingPathExtension().lastPathComponent] = try String(contentsOf: file, encoding: .utf8)
        }
        for row in rows {
            #expect(row.2.contains("Tests") || row.1 == "20")
            for name in row.2.matches(of: /`(\w+Tests)(?:\.(\w+))?`/) {
                let text = try #require(suites[String(name.1)], "\(row.1): there is no \(name.1)")
                if let test = name.2 { #expect(text.contains("func \(test)("), "\(row.1): \(name.1).\(test)") }
            }
        }
    }
}
