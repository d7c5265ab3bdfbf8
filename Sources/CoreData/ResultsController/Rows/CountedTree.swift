/// A sequence of elements that finds the position of an element, and the element at a position, in logarithmic time.
///
/// Design. A B+tree in which every branch stores the number and the weight of the elements below each child: each row
/// of a list weighs one, each of its sections weighs its row count. Elements are stored in leaves of up to
/// ``maximumLeaf``.
///
/// Nodes refer to each other by number, so a node can have a reference to its parent although the tree is a value: the
/// slots of the nodes are shared in pages between copies of the tree (``PagedSlots``), and a change duplicates only the
/// pages that it writes. A copy of the tree is therefore a cheap snapshot. ``LeafIndex`` maps an element to its leaf;
/// the path from there to the root gives its position. The index is built on first use and costs four bytes per
/// element.
///
/// A tree built from sorted elements does not copy them: its first leaves are slices of the one block, copied only when
/// they are written. Building costs a hundredth of a microsecond per element or less.
///
/// Copies may be read on several threads as long as no thread asks for the position of an element, which may build the
/// index that the copies share.
struct CountedTree<Element: CountedElement> {
    /// A child of a branch, with the totals below it.
    struct Child {
        var node: UInt32
        var count: UInt32
        var weight: UInt32
    }

    struct Branch {
        var parent: UInt32
        var children: [Child]
    }

    struct Leaf {
        var parent: UInt32
        var elements: LeafElements<Element>
    }

    /// The index, shared by copies until one of them changes.
    final class IndexHolder {
        var index: LeafIndex?

        init(_ index: LeafIndex? = nil) { self.index = index }
    }

    /// A place in the tree: a leaf and a position inside it.
    struct Place {
        var leaf: UInt32
        var slot: Int
    }

    static var none: UInt32 { .max }
    static var maximumLeaf: Int { 512 }
    static var filledLeaf: Int { 256 }
    static var smallLeaf: Int { 64 }
    static var maximumBranch: Int { 64 }
    static var filledBranch: Int { 48 }
    static var smallBranch: Int { 12 }

    var leaves = PagedSlots<Leaf>()
    var branches = PagedSlots<Branch>()
    /// The topmost branch. It always exists; its children are leaves if `height` is 1.
    var root: UInt32
    /// The number of levels of branches.
    var height = 1
    var holder = IndexHolder()

    /// The number of elements.
    var count = 0
    /// The sum of the elements' weights.
    var weight = 0

    /// An empty tree.
    init() { root = branches.add(Branch(parent: Self.none, children: [])) }

    // MARK: Reading

    /// The element at `position`, counted from 0. O(log n).
    subscript(position: Int) -> Element {
        let place = place(of: position)
        return leaves[place.leaf].elements[place.slot]
    }

    /// The position of the element with `code`, or `nil` if it is not in the tree. O(log n); the first call builds the
    /// index, O(n).
    func position(of code: UInt64) -> Int? {
        place(ofCode: code).map { sumBefore(leaf: $0.leaf).count + $0.slot }
    }

    /// True if the element with `code` is in the tree.
    func contains(_ code: UInt64) -> Bool { index[code] != LeafIndex.none }

    /// The weight of the elements before `position`. O(log n).
    func weight(before position: Int) -> Int {
        guard position < count else { return weight }
        let place = place(of: position)
        var sum = sumBefore(leaf: place.leaf).weight
        leaves[place.leaf].elements.withElements { elements in
            for slot in 0..<place.slot { sum += elements[slot].weight }
        }
        return sum
    }

    /// The element that covers `offset` in the sequence of weights, its position, and the offset inside it. The offset
    /// must be less than ``weight``. O(log n).
    func locate(weight offset: Int) -> (position: Int, element: Element, remainder: Int) {
        precondition(offset >= 0 && offset < weight, "offset out of bounds")
        var rest = offset
        var position = 0
        var node = root
        for _ in 0..<height {
            for child in branches[node].children {
                if rest < Int(child.weight) {
                    node = child.node
                    break
                }
                rest -= Int(child.weight)
                position += Int(child.count)
            }
        }
        return leaves[node].elements.withElements { elements in
            var slot = 0
            while rest >= elements[slot].weight {
                rest -= elements[slot].weight
                slot += 1
            }
            return (position + slot, elements[slot], rest)
        }
    }

    /// Calls `body` with each leaf's number and elements, in order.
    // SAFETY: the leaf holds the elements during `body`, which must not keep them.
    func forEachLeaf(_ body: (UInt32, UnsafeBufferPointer<Element>) -> Void) {
        func visit(_ node: UInt32, level: Int) {
            guard level > 0 else { return leaves[node].elements.withElements { body(node, $0) } }
            for child in branches[node].children { visit(child.node, level: level - 1) }
        }
        visit(root, level: height)
    }

    /// A copy of the elements at the positions in `range`. O(log n + count).
    func elements(in range: Range<Int>) -> [Element] {
        var result: [Element] = []
        result.reserveCapacity(range.count)
        func visit(_ node: UInt32, level: Int, start: Int) {
            guard level > 0 else {
                return leaves[node].elements.withElements { elements in
                    let wanted = range.clamped(to: start..<start + elements.count)
                    result.append(contentsOf: elements[wanted.lowerBound - start..<wanted.upperBound - start])
                }
            }
            var start = start
            for child in branches[node].children {
                let end = start + Int(child.count)
                if end > range.lowerBound && start < range.upperBound {
                    visit(child.node, level: level - 1, start: start)
                }
                start = end
            }
        }
        if !range.isEmpty { visit(root, level: height, start: 0) }
        return result
    }

    // MARK: Navigation

    /// The index, built if needed.
    var index: LeafIndex {
        if let index = holder.index { return index }
        let made = LeafIndex(Element.self, forEachLeaf: forEachLeaf)
        holder.index = made
        return made
    }

    /// The place of the element at `position`. With `toInsert` the position may be the count.
    func place(of position: Int, toInsert: Bool = false) -> Place {
        precondition(position >= 0 && position < count + (toInsert ? 1 : 0), "position out of bounds")
        var rest = position
        var node = root
        for _ in 0..<height {
            let children = branches[node].children
            for (number, child) in children.enumerated() {
                // An insertion at the border of two leaves is appended to the first.
                if rest < Int(child.count) || (toInsert && (rest == Int(child.count) || number == children.count - 1)) {
                    node = child.node
                    break
                }
                rest -= Int(child.count)
            }
        }
        return Place(leaf: node, slot: rest)
    }

    func place(ofCode code: UInt64) -> Place? {
        let leaf = index[code]
        guard leaf != LeafIndex.none else { return nil }
        let slot = leaves[leaf].elements.withElements { elements in elements.firstIndex { $0.code == code } }
        guard let slot else { preconditionFailure("the index names a leaf that does not hold the element") }
        return Place(leaf: leaf, slot: slot)
    }

    /// The element with `code` and the weight of the elements before it; `nil` if it is not in the tree.
    func entry(of code: UInt64) -> (element: Element, weightBefore: Int)? {
        guard let place = place(ofCode: code) else { return nil }
        var sum = sumBefore(leaf: place.leaf).weight
        return leaves[place.leaf].elements.withElements { elements in
            for slot in 0..<place.slot { sum += elements[slot].weight }
            return (elements[place.slot], sum)
        }
    }

    /// The number of elements in the leaves before `leaf`, and their weight.
    func sumBefore(leaf: UInt32) -> (count: Int, weight: Int) {
        var sum = (count: 0, weight: 0)
        var node = leaf
        var parent = leaves[leaf].parent
        while parent != Self.none {
            for child in branches[parent].children {
                if child.node == node { break }
                sum.count += Int(child.count)
                sum.weight += Int(child.weight)
            }
            node = parent
            parent = branches[node].parent
        }
        return sum
    }
}
