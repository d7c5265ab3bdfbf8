import Foundation
import PredicateSyntax
import Testing

/// Format strings of real programs in the table `predicates.tsv`, in the folder `ROSTER_CORPUS`, or in `shared/corpus`
/// next to the package or one folder above.
@Suite struct FormatCorpusTests {
    static let table: String? = {
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let beside = package.deletingLastPathComponent()
        let named = ProcessInfo.processInfo.environment["ROSTER_CORPUS"].map { URL(fileURLWithPath: $0) }
        let folders =
            [named] + [beside, beside.deletingLastPathComponent()].map { $0.appendingPathComponent("shared/corpus") }
        return folders.compactMap { $0?.appendingPathComponent("predicates.tsv").path }
            .first { FileManager.default.fileExists(atPath: $0) }
    }()

    struct Line {
        let format: String
        let arguments: [FormatArgument]
        let isExpression: Bool
        let isMalformed: Bool
    }

    static func lines() throws -> [Line] {
        guard let table else { return [] }
        return try String(contentsOfFile: table, encoding: .utf8).split(separator: "\n").dropFirst().map { line in
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return Line(
                format: columns[0], arguments: arguments(of: columns[0], columns[1]),
                isExpression: columns[2] == "expression",
                // Uniform type identifiers exist on Apple's platforms only.
                isMalformed: columns.contains { $0.contains("malformed") } || columns[0].contains("UTI-"))
        }
    }

    /// Returns an argument for each placeholder, of the kind in the table's second column.
    static func arguments(of format: String, _ kinds: String) -> [FormatArgument] {
        let pattern = #/%(?<size>[hlqLzjt]*)(?<kind>[@KdDiuUxXoOcCsSfFeEgGaA])/#
        let objects = kinds.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.hasPrefix("%@=") }.map { $0.dropFirst(3) }
        var next = 0
        return format.matches(of: pattern).map { match in
            switch match.output.kind {
            case "K": return .value("key.path")
            case "@":
                defer { next += 1 }
                return .value(object(objects.isEmpty ? "" : objects[min(next, objects.count - 1)]))
            case "f", "F", "e", "E", "g", "G", "a", "A": return .value(1.5)
            default: return .value(1)
            }
        }
    }

    private static func object(_ kind: Substring) -> Any? {
        switch kind {
        case "date": Date(timeIntervalSinceReferenceDate: 700_000_000.25)
        case "collection", "collection?": ["a", "b"]
        case "number", "rawvalue": NSNumber(value: 7)
        case "number/bool", "bool": NSNumber(value: true)
        case "nil/null": nil
        default: "text"
        }
    }

    /// Describes the first difference between the trees; nil if they are equal.
    private func difference(_ line: Line) throws -> String? {
        let (printed, first, again): (String, String, String)
        if line.isExpression {
            let tree = try FormatParser.expression(line.format, arguments: line.arguments)
            printed = FormatPrinter.string(tree)
            (first, again) = (TreeText.text(tree), TreeText.text(try FormatParser.expression(printed)))
        } else {
            let tree = try FormatParser.predicate(line.format, arguments: line.arguments)
            printed = FormatPrinter.string(tree)
            (first, again) = (TreeText.text(tree), TreeText.text(try FormatParser.predicate(printed)))
        }
        return first == again ? nil : "\(line.format)\n  printed: \(printed)\n  \(first)\n  \(again)"
    }

    @Test(.enabled(if: table != nil, "ROSTER_CORPUS names no folder"))
    func everyRealFormatPrintsBackToItsTree() throws {
        let lines = try Self.lines()
        #expect(lines.count > 600)
        for line in lines {
            do {
                if let difference = try difference(line) { Issue.record("\(difference)") }
                #expect(!line.isMalformed, "was read: \(line.format)")
            } catch {
                if !line.isMalformed { Issue.record("\(line.format): \(error)") }
            }
        }
    }
}
