import CoreData
import Foundation

/// Records as text, for a clipboard.
public enum RecordText {
    /// The records of one entity in a format, as `export` writes them: with attributes and relationships of the entity.
    ///
    /// - Throws: errors of reading them.
    public static func text(
        of objects: [NSManagedObject], entity: NSEntityDescription, as format: OutputFormat
    ) throws -> String {
        var text = try GrowingRecordText(of: entity, as: format)
        for object in objects { try text.add(object) }
        return try text.end()
    }

    /// Texts in columns under their titles.
    ///
    /// - Parameter width: the number of cells of a text.
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

/// The records of one entity in a format, added one by one, for callers that limit their number.
public struct GrowingRecordText {
    private let collected = CollectedText()
    private var writer: any RecordWriter

    /// A text without records.
    ///
    /// - Throws: ``CommandError`` if the entity has no such columns.
    public init(of entity: NSEntityDescription, as format: OutputFormat) throws {
        let surroundings = CommandSurroundings(
            output: collected, progress: NoProgress(), interruption: NoInterruption(),
            textStyle: TextStyle(columns: nil, isEmphasized: false, width: { $0.count }))
        writer = format.writer(try ColumnChoice.export(of: entity, nests: format == .json), in: surroundings)
    }

    /// Number of bytes of the text so far. O(1)
    public var byteCount: Int { collected.text.utf8.count }

    /// Adds a record.
    ///
    /// - Throws: errors of reading it.
    public mutating func add(_ object: NSManagedObject) throws { try writer.record(object) }

    /// The whole text. Call once, after the last record.
    ///
    /// - Throws: errors of writing the last lines.
    public mutating func end() throws -> String {
        try writer.end()
        return collected.text
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
