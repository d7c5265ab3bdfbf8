extension CountedTree {
    /// Inserts `element` before the element at `position`, or at the end. O(log n).
    mutating func insert(_ element: Element, at position: Int) {
        ownIndex()
        if branches[root].children.isEmpty { addFirstLeaf() }
        let place = place(of: position, toInsert: true)
        leaves[place.leaf].elements.change { $0.insert(element, at: place.slot) }
        holder.index?[element.code] = place.leaf
        add(count: 1, weight: element.weight, above: place.leaf)
        if leaves[place.leaf].elements.count > Self.maximumLeaf { split(leaf: place.leaf) }
    }

    /// Removes the element with `code` and returns its position; `nil` if it is not in the tree. O(log n).
    @discardableResult
    mutating func remove(_ code: UInt64) -> Int? {
        guard let place = place(ofCode: code) else { return nil }
        let position = sumBefore(leaf: place.leaf).count + place.slot
        ownIndex()
        let element = leaves[place.leaf].elements.change { $0.remove(at: place.slot) }
        holder.index?[code] = LeafIndex.none
        add(count: -1, weight: -element.weight, above: place.leaf)
        shrink(leaf: place.leaf)
        return position
    }

    /// Replaces the element with the same code, which must be in the tree. O(log n).
    mutating func replace(_ element: Element) {
        guard let place = place(ofCode: element.code) else { preconditionFailure("no element to replace") }
        let added = element.weight - leaves[place.leaf].elements[place.slot].weight
        leaves[place.leaf].elements.change { $0[place.slot] = element }
        if added != 0 { add(count: 0, weight: added, above: place.leaf) }
    }

    /// Copies the index before a change if other copies of the tree share it.
    private mutating func ownIndex() {
        if !isKnownUniquelyReferenced(&holder) { holder = IndexHolder(holder.index) }
    }

    private mutating func addFirstLeaf() {
        let leaf = leaves.add(Leaf(parent: root, elements: LeafElements()))
        branches[root].children = [Child(node: leaf, count: 0, weight: 0)]
        height = 1
    }

    /// Adds to the sums of all ancestors of `leaf`.
    private mutating func add(count: Int, weight: Int, above leaf: UInt32) {
        self.count += count
        self.weight += weight
        var node = leaf
        var parent = leaves[leaf].parent
        while parent != Self.none {
            let number = childNumber(of: node, in: parent)
            branches[parent].children[number].count = UInt32(Int(branches[parent].children[number].count) + count)
            branches[parent].children[number].weight = UInt32(Int(branches[parent].children[number].weight) + weight)
            node = parent
            parent = branches[node].parent
        }
    }

    private func childNumber(of node: UInt32, in parent: UInt32) -> Int {
        guard let number = branches[parent].children.firstIndex(where: { $0.node == node }) else {
            preconditionFailure("a node's parent does not know it")
        }
        return number
    }

    // MARK: Growing

    private mutating func split(leaf: UInt32) {
        let half = leaves[leaf].elements.count / 2
        let moved = leaves[leaf].elements.change { elements in
            let moved = Array(elements[half...])
            elements.removeSubrange(half...)
            return moved
        }
        let parent = leaves[leaf].parent
        let added = leaves.add(Leaf(parent: parent, elements: LeafElements(moved)))
        moveIndex(of: moved, to: added)
        let sums = Child(
            node: added, count: UInt32(moved.count), weight: UInt32(moved.reduce(0) { $0 + $1.weight }))
        addChild(sums, after: leaf, in: parent, level: 1)
    }

    private mutating func moveIndex(of elements: [Element], to leaf: UInt32) {
        guard holder.index != nil else { return }
        for element in elements { holder.index?[element.code] = leaf }
    }

    /// Inserts a new node after `sibling`, which its elements were taken from. `level` is that of the parent.
    private mutating func addChild(_ child: Child, after sibling: UInt32, in parent: UInt32, level: Int) {
        let number = childNumber(of: sibling, in: parent)
        branches[parent].children[number].count -= child.count
        branches[parent].children[number].weight -= child.weight
        branches[parent].children.insert(child, at: number + 1)
        if branches[parent].children.count > Self.maximumBranch { split(branch: parent, level: level) }
    }

    private mutating func split(branch: UInt32, level: Int) {
        let half = branches[branch].children.count / 2
        let moved = Array(branches[branch].children[half...])
        branches[branch].children.removeSubrange(half...)
        let parent = branches[branch].parent
        let added = branches.add(Branch(parent: parent, children: moved))
        for child in moved { setParent(of: child.node, level: level - 1, to: added) }
        let sums = Child(node: added, count: moved.sum(\.count), weight: moved.sum(\.weight))
        if parent != Self.none { return addChild(sums, after: branch, in: parent, level: level + 1) }
        let rest = branches[branch].children
        let old = Child(node: branch, count: rest.sum(\.count), weight: rest.sum(\.weight))
        root = branches.add(Branch(parent: Self.none, children: [old, sums]))
        branches[branch].parent = root
        branches[added].parent = root
        height += 1
    }

    // MARK: Shrinking

    private mutating func shrink(leaf: UInt32) {
        let count = leaves[leaf].elements.count
        let parent = leaves[leaf].parent
        if count == 0 {
            leaves.free(leaf, leaving: Leaf(parent: Self.none, elements: LeafElements()))
            return removeChild(leaf, from: parent, level: 1)
        }
        guard count < Self.smallLeaf, let pair = mergeable(leaf, in: parent, limit: Self.filledLeaf) else { return }
        let moved = leaves[pair.right].elements.withElements(Array.init)
        leaves[pair.left].elements.change { $0.append(contentsOf: moved) }
        moveIndex(of: moved, to: pair.left)
        leaves.free(pair.right, leaving: Leaf(parent: Self.none, elements: LeafElements()))
        moveSums(from: pair.right, to: pair.left, in: parent)
        removeChild(pair.right, from: parent, level: 1)
    }

    /// `node` and an adjacent sibling that together hold at most `limit` elements, in order.
    private func mergeable(_ node: UInt32, in parent: UInt32, limit: Int) -> (left: UInt32, right: UInt32)? {
        let children = branches[parent].children
        let number = childNumber(of: node, in: parent)
        for left in [number - 1, number] where left >= 0 && left + 1 < children.count {
            if children[left].count + children[left + 1].count <= limit {
                return (children[left].node, children[left + 1].node)
            }
        }
        return nil
    }

    private mutating func moveSums(from source: UInt32, to target: UInt32, in parent: UInt32) {
        let from = childNumber(of: source, in: parent)
        let to = childNumber(of: target, in: parent)
        branches[parent].children[to].count += branches[parent].children[from].count
        branches[parent].children[to].weight += branches[parent].children[from].weight
        branches[parent].children[from].count = 0
        branches[parent].children[from].weight = 0
    }

    /// Removes an empty or merged node from its parent; `level` is that of the parent.
    private mutating func removeChild(_ node: UInt32, from parent: UInt32, level: Int) {
        let number = childNumber(of: node, in: parent)
        branches[parent].children.remove(at: number)
        let count = branches[parent].children.count
        let above = branches[parent].parent
        if above == Self.none {
            lowerRoot()
        } else if count == 0 {
            branches.free(parent, leaving: Branch(parent: Self.none, children: []))
            removeChild(parent, from: above, level: level + 1)
        } else if count < Self.smallBranch {
            merge(branch: parent, in: above, level: level)
        }
    }

    private mutating func merge(branch: UInt32, in parent: UInt32, level: Int) {
        let siblings = branches[parent].children
        let number = childNumber(of: branch, in: parent)
        for left in [number - 1, number] where left >= 0 && left + 1 < siblings.count {
            let (first, second) = (siblings[left].node, siblings[left + 1].node)
            let moved = branches[second].children
            guard branches[first].children.count + moved.count <= Self.filledBranch else { continue }
            for child in moved { setParent(of: child.node, level: level - 1, to: first) }
            branches[first].children.append(contentsOf: moved)
            branches.free(second, leaving: Branch(parent: Self.none, children: []))
            moveSums(from: second, to: first, in: parent)
            return removeChild(second, from: parent, level: level + 1)
        }
    }

    /// Removes the root while it has only one branch below it; an empty tree has height 1.
    private mutating func lowerRoot() {
        if branches[root].children.isEmpty { height = 1 }
        while height > 1 && branches[root].children.count == 1 {
            let below = branches[root].children[0].node
            branches.free(root, leaving: Branch(parent: Self.none, children: []))
            root = below
            branches[root].parent = Self.none
            height -= 1
        }
    }
}
