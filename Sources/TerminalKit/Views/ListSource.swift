/// What a sectioned list shows. Only what is on the screen is asked for, except for the row counts.
public protocol ListSource: AnyObject {
    var sectionCount: Int { get }
    /// The title in the section's header.
    func title(ofSection section: Int) -> String
    /// What tells sections apart while the list changes: a fold belongs to it. The title, unless the source knows better.
    func key(ofSection section: Int) -> String
    func rowCount(inSection section: Int) -> Int
    func text(ofColumn column: Int, at row: ListPath) -> String
    /// What is worth noting about a row now.
    func mark(at row: ListPath) -> RowMark?
    /// How many rows the header of a section counts: all of them, unless the source knows better.
    func count(ofSection section: Int) -> Int
    /// What is said of a section beside its count, and how long a bar stands beside it, from 0 to 1.
    func note(ofSection section: Int) -> (text: String, share: Double?)?
    /// Whether the user marked the row.
    func isMarked(at row: ListPath) -> Bool
}

extension ListSource {
    /// No row is marked.
    public func isMarked(at row: ListPath) -> Bool { false }

    /// All rows of the section.
    public func count(ofSection section: Int) -> Int { rowCount(inSection: section) }

    /// Nothing is said.
    public func note(ofSection section: Int) -> (text: String, share: Double?)? { nil }

    /// The title.
    public func key(ofSection section: Int) -> String { title(ofSection: section) }
}

/// A row of a sectioned list.
public struct ListPath: Hashable, Comparable, Sendable {
    /// The number of the section, counted from 0.
    public var section: Int
    /// The number of the row in its section, counted from 0.
    public var row: Int

    /// The row at that place.
    public init(section: Int, row: Int) {
        self.section = section
        self.row = row
    }

    /// Whether a row stands above another.
    public static func < (left: ListPath, right: ListPath) -> Bool {
        (left.section, left.row) < (right.section, right.row)
    }
}

/// Why a row stands out for a while.
public enum RowMark: Hashable, Sendable {
    case inserted, moved, updated
    /// Changed and not saved yet.
    case edited
    /// Changed and not saved yet, and changed by another program too.
    case contested
    /// Gone from the list a moment ago.
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

/// Where a list's cursor stands.
public enum ListPosition: Hashable, Sendable {
    case header(Int)
    case row(ListPath)

    /// The section that the position is in.
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
