/// What a ``CountedTree`` can hold: a small value that names itself by a number.
protocol CountedElement: BitwiseCopyable, Sendable {
    /// A number that no other element of the same tree has.
    var code: UInt64 { get }

    /// How much the element adds to the weight of the tree.
    var weight: Int { get }
}

/// One row of a list in eight bytes. What the number stands for is the owner's business.
struct RowToken: Hashable, CountedElement {
    let code: UInt64

    var weight: Int { 1 }
}

/// One section of a list: its number, which stays the same while sections before it come and go, and how many rows it has.
struct SectionEntry: Hashable, CountedElement {
    let number: UInt32
    var rowCount: UInt32

    var code: UInt64 { UInt64(number) }
    var weight: Int { Int(rowCount) }
}
