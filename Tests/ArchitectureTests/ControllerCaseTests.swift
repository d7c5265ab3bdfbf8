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
}
