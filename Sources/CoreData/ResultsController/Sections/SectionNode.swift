import Foundation

/// A section of one level with its subsections, for lists whose sections have several levels. An addition to Apple's
/// interface. A value, safe on any thread.
public struct SectionNode: Sendable {
    /// The section's value.
    public let value: SectionValue
    /// The section's name on its own level.
    public let name: String
    /// The number of objects in the section.
    public let count: Int
    /// The indices of the list's sections that this one consists of.
    public let sections: Range<Int>
    /// The sections of the next level; empty on the innermost one.
    public let children: [SectionNode]
    fileprivate let accumulators: [Accumulator]
    fileprivate let plan: AggregatePlan?

    /// An aggregate of the objects in the section; `nil` for one that the controller does not have.
    public func aggregate(_ aggregate: SectionAggregate) -> SectionValue? { plan?.result(aggregate, of: accumulators) }
}

/// Builds the tree of a list's sections.
struct SectionTree {
    let contents: ListContents
    let table: SectionTable

    private struct Leaf {
        let number: UInt32
        let count: Int
        let parts: [SectionValue]
        let names: [String]

        /// True if the section has no deeper level.
        func ends(at level: Int) -> Bool { parts.count == level + 1 }
    }

    /// The outermost sections. O(sections).
    var nodes: [SectionNode] {
        let leaves = contents.allSections.map { section in
            let name = table.name(of: section.number)
            let value = table.value(of: section.number) ?? (name.isEmpty ? .missing : .text(name))
            // A closure may return several levels, and a section of another list keeps the number of levels it had
            // there.
            guard let names = table.names(of: section.number), names.count > 1, names.count == value.levels.count else {
                return Leaf(number: section.number, count: section.weight, parts: [value], names: [name])
            }
            return Leaf(number: section.number, count: section.weight, parts: value.levels, names: names)
        }
        return nodes(leaves[...], level: 0)
    }

    private func nodes(_ leaves: ArraySlice<Leaf>, level: Int) -> [SectionNode] {
        var nodes: [SectionNode] = []
        var start = leaves.startIndex
        while start < leaves.endIndex {
            let first = leaves[start]
            let end =
                leaves[start...].firstIndex {
                    $0.parts[level] != first.parts[level] || $0.ends(at: level) != first.ends(at: level)
                        || $0.parts.count == 1 && $0.number != first.number
                }
                ?? leaves.endIndex
            let members = leaves[start..<end]
            let results = contents.aggregates
            nodes.append(
                SectionNode(
                    value: first.parts[level], name: first.names[level], count: members.reduce(0) { $0 + $1.count },
                    sections: start..<end,
                    children: first.ends(at: level) ? [] : self.nodes(members, level: level + 1),
                    accumulators: results?.merged(members.map(\.number)) ?? [], plan: results?.plan))
            start = end
        }
        return nodes
    }
}

extension NSFetchedResultsController {
    /// The sections as a tree: the outermost level, which contains the others; `nil` before the fetch. O(sections).
    /// Called on the context's queue; the nodes may be used on any.
    public final var sectionTree: [SectionNode]? { snapshot?.sectionTree }
}
