import Foundation

/// The names that lists use for the two numbers of an index path. (On Apple's systems, UIKit and AppKit define them.)
extension IndexPath {
    /// The path of a row in a section. A value, safe on any thread.
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

    /// The path of an item in a section. A value, safe on any thread.
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

    /// The section.
    ///
    /// - Precondition: The path has at least one number.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// The row inside the section.
    ///
    /// - Precondition: The path has at least two numbers.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// The item inside the section: the same number as ``row``.
    ///
    /// - Precondition: The path has at least two numbers.
    public var item: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    init(_ path: ListContents.Path) { self.init(indexes: [path.section, path.row]) }

    /// The position in a list that the path names; `nil` if it does not have two numbers.
    var listPath: ListContents.Path? { count == 2 ? .init(section: self[0], row: self[1]) : nil }
}
