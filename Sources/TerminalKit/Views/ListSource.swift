/// The contents of a sectioned list. The list reads only visible contents, and the row counts.
@MainActor public protocol ListSource: AnyObject {
    var sectionCount: Int { get }
    /// The title in the section's header.
    func title(ofSection section: Int) -> String
    /// The identity of a section while the list changes, to which folds belong. By default the title.
    func key(ofSection section: Int) -> String
    func rowCount(inSection section: Int) -> Int
    func text(ofColumn column: Int, at row: ListPath) -> String
    /// The mark of a row that currently needs attention.
    func mark(at row: ListPath) -> RowMark?
    /// The number of rows shown in the header of a section. By default the count of its rows.
    func count(ofSection section: Int) -> Int
    /// A note shown after the count of a section, and the length of a bar next to it, from 0 to 1.
    func note(ofSection section: Int) -> (text: String, share: Double?)?
    /// True if the user marked the row.
    func isMarked(at row: ListPath) -> Bool
}

extension ListSource {
    /// `false`: no row is marked.
    public func isMarked(at row: ListPath) -> Bool { false }

    /// The number of rows in the section.
    public func count(ofSection section: Int) -> Int { rowCount(inSection: section) }

    /// `nil`: there is no note.
    public func note(ofSection section: Int) -> (text: String, share: Double?)? { nil }

    /// The title of the section.
    public func key(ofSection section: Int) -> String { title(ofSection: section) }
}

/// A row of a sectioned list.
public struct ListPath: Hashable, Comparable, Sendable {
    /// The number of the section, counted from 0.
    public var section: Int
    /// The number of the row in its section, counted from 0.
    public var row: Int

    /// Creates a path from section and row.
    public init(section: Int, row: Int) {
        self.section = section
        self.row = row
    }

    /// True if the left row is above the right one.
    public static func < (left: ListPath, right: ListPath) -> Bool {
        (left.section, left.row) < (right.section, right.row)
    }
}

/// The reason why a row is highlighted for a while.
public enum RowMark: Hashable, Sendable {
    case inserted, moved, updated
    /// Changed and not saved yet.
    case edited
    /// Changed and not saved yet, and changed by another program too.
    case contested
    /// Recently removed from the list.
    case removed

    var role: Role {
        switch self {
        case .inserted: .inserted
        case .moved: .moved
        case .updated: .updated
        case .edited: .edited
        case .contested: .warning
        case .removed: .muted
        }
    }

    func symbol(_ symbols: Symbols) -> String {
        switch self {
        case .inserted: symbols.inserted
        case .moved: symbols.moved
        case .updated: symbols.updated
        case .edited: "*"
        case .contested: "!"
        case .removed: symbols.removed
        }
    }
}

/// The position of a list's cursor.
public enum ListPosition: Hashable, Sendable {
    case header(Int)
    case row(ListPath)

    /// The section of the position.
    public var section: Int {
        switch self {
        case .header(let section): section
        case .row(let path): path.section
        }
    }

    /// The row; `nil` for a header.
    public var path: ListPath? {
        if case .row(let path) = self { return path }
        return nil
    }
}
