import CoreData
import Foundation

/// Records as text, for a clipboard.
public enum RecordText {
    /// The records of one entity in a format, as `export` writes them: with their own attributes and relationships.
    ///
    /// - Throws: what reading them throws.
    public static func text(
        of objects: [NSManagedObject], entity: NSEntityDescription, as format: OutputFormat
    ) throws -> String {
        let collected = CollectedText()
        let columns = try ColumnChoice.export(of: entity, nests: format == .json)
        let surroundings = CommandSurroundings(
            output: collected, progress: NoProgress(), interruption: NoInterruption(),
            textStyle: TextStyle(columns: nil, isEmphasized: false, width: { $0.count }))
        var writer = format.writer(columns, in: surroundings)
        for object in objects { try writer.record(object) }
        try writer.end()
        return collected.text
    }

    /// Texts in columns under their titles.
    ///
    /// - Parameter width: the cells that a text takes.
    public static func table(
        titles: [String], rows: [[String]], alignsRight: [Bool], width: (String) -> Int
    ) -> String {
        let lines = [titles] + rows.map { $0.map { VisibleText.oneLine($0) } }
        let widths = titles.indices.map { column in lines.map { width($0[column]) }.max() ?? 0 }
        return lines.map { line in
            let cells = line.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - width(line[column]))
                return alignsRight[column] ? space + line[column] : line[column] + space
            }
            return cells.joined(separator: "  ").trimmingSuffix { $0 == " " }
        }.joined(separator: "\n")
    }
}

extension String {
    fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> String {
        String(self[..<(lastIndex { !predicate($0) }.map { index(after: $0) } ?? startIndex)])
    }
}

private final class CollectedText: TextOutput {
    private(set) var text = ""

    func write(_ text: String) throws { self.text += text }
    func flush() throws {}
}

private final class NoProgress: ProgressDisplay {
    func report(fraction: Double?, _ text: @autoclosure () -> String) {}
    func end() {}
}

private final class NoInterruption: Interruption {
    var isRaised: Bool { false }
    func wait(for time: Duration) {}
    func whenRaised(_ action: @escaping @Sendable @MainActor () -> Void) {}
}
