import Foundation
import Testing

/// `DIVERGENCES.md` and `Documentation/ResultsControllers.md` name tests that exist.
@Suite struct DivergenceTests {
    private static let text = ["DIVERGENCES.md", "Documentation/ResultsControllers.md"].map {
        (try? String(contentsOf: SourceTree.root.appendingPathComponent($0), encoding: .utf8)) ?? ""
    }.joined()

    @Test func namedTestsExist() throws {
        let tests = SourceText(
            path: "Tests", text: SourceTree.texts(below: "Tests").map(\.content).joined(separator: "\n"))
        func has(_ declaration: String, before end: (Character?) -> Bool) -> Bool {
            tests.lines(with: declaration).contains { number in
                let line = tests.line(number)
                return line.range(of: declaration).map { end(line[$0.upperBound...].first) } ?? false
            }
        }
        let names = Self.text.matches(of: /`([A-Z]\w+Tests)(?:\.(\w+))?`/)
        #expect(names.count > 250)
        for name in names {
            let isThere = ["struct", "class"].contains { keyword in
                has("\(keyword) \(name.1)") { $0.map { !$0.isLetter && !$0.isNumber && $0 != "_" } ?? true }
            }
            #expect(isThere, "\(name.0)")
            if let test = name.2 { #expect(has("func \(test)(") { _ in true }, "\(name.0)") }
        }
    }
}
