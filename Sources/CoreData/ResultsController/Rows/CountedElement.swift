/// An element of a ``CountedTree``: a small value that is identified by a number.
protocol CountedElement: BitwiseCopyable, Sendable {
    /// A number that is unique in the tree.
    var code: UInt64 { get }

    /// The element's contribution to the weight of the tree.
    var weight: Int { get }
}

/// One row of a list in eight bytes. The owner of the list defines the meaning of the number.
struct RowToken: Hashable, CountedElement {
    let code: UInt64

    var weight: Int { 1 }
}

/// One section of a list: its number, which stays the same if sections before it are inserted or deleted, and its row
/// count.
struct SectionEntry: Hashable, CountedElement {
    let number: UInt32
    var rowCount: UInt32

    var code: UInt64 { UInt64(number) }
    var weight: Int { Int(rowCount) }
}
