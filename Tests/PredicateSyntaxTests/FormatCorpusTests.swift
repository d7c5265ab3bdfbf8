import Foundation
import PredicateSyntax
import Testing

/// The format strings of real programs: a table of them lies in the folder that ROSTER_CORPUS names.
@Suite struct FormatCorpusTests {
    static let corpus = ProcessInfo.processInfo.environment["ROSTER_CORPUS"].map { $0 + "/predicates.tsv" }

    struct Line {
        let format: String
        let arguments: [FormatArgument]
        let isExpression: Bool
        let isMalformed: Bool
    }

    static func lines() throws -> [Line] {
        guard let corpus else { return [] }
        return try String(contentsOfFile: corpus, encoding: .utf8).split(separator: "\n").dropFirst().map { line in
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return Line(
                format: columns[0], arguments: arguments(of: columns[0]), isExpression: columns[2] == "expression",
                // Uniform type identifiers are Apple's alone.
                isMalformed: columns.contains { $0.contains("malformed") } || columns[0].contains("UTI-"))
        }
    }

    /// An argument that fits, for each placeholder.
    static func arguments(of format: String) -> [FormatArgument] {
        let pattern = #/%(?<size>[hlqLzjt]*)(?<kind>[@KdDiuUxXoOcCsSfFeEgGaA])/#
        return format.matches(of: pattern).map { match in
            switch match.output.kind {
            case "K": .value("key.path")
            case "@": .value("text")
            default: .value(1)
            }
        }
    }

    @Test(.enabled(if: corpus != nil, "ROSTER_CORPUS names no folder"))
    func everyRealFormatIsReadAndPrintsBack() throws {
        let lines = try Self.lines()
        #expect(lines.count > 600)
        for line in lines {
            do {
                let printed: String
                let again: String
                if line.isExpression {
                    printed = FormatPrinter.string(try FormatParser.expression(line.format, arguments: line.arguments))
                    again = FormatPrinter.string(try FormatParser.expression(printed))
                } else {
                    printed = FormatPrinter.string(try FormatParser.predicate(line.format, arguments: line.arguments))
                    again = FormatPrinter.string(try FormatParser.predicate(printed))
                }
                #expect(again == printed, "\(line.format)")
                #expect(!line.isMalformed, "was read: \(line.format)")
            } catch {
                if !line.isMalformed { Issue.record("\(line.format): \(error)") }
            }
        }
    }
}
