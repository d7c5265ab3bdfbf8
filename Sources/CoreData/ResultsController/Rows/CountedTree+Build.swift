extension CountedTree {
    /// Creates a tree of the elements of `block`, in their order. The leaves are slices of the block; nothing is
    /// copied.
    ///
    /// - Parameter isUnit: true if every element weighs one, so that weights need not be read.
    init(_ block: SharedElements<Element>, isUnit: Bool) {
        self.init()
        guard block.count > 0 else { return }
        var level: [Child] = []
        level.reserveCapacity(block.count / Self.filledLeaf + 1)
        var start = 0
        while start < block.count {
            let count = min(Self.filledLeaf, block.count - start)
            let weight = isUnit ? count : block.buffer[start..<start + count].reduce(0) { $0 + $1.weight }
            let leaf = Leaf(parent: Self.none, elements: LeafElements(block, start: start, count: count))
            level.append(Child(node: leaves.add(leaf), count: UInt32(count), weight: UInt32(weight)))
            start += count
        }
        buildBranches(over: level)
    }

    /// Adds levels of branches over `leafLevel` until one branch holds all.
    private mutating func buildBranches(over leafLevel: [Child]) {
        var level = leafLevel
        height = 0
        repeat {
            var above: [Child] = []
            var start = 0
            while start < level.count {
                let children = Array(level[start..<min(start + Self.filledBranch, level.count)])
                let number: UInt32
                if height == 0 && level.count <= Self.filledBranch {
                    branches[root].children = children
                    number = root
                } else {
                    number = branches.add(Branch(parent: Self.none, children: children))
                }
                for child in children { setParent(of: child.node, level: height, to: number) }
                above.append(Child(node: number, count: children.sum(\.count), weight: children.sum(\.weight)))
                start += Self.filledBranch
            }
            level = above
            height += 1
        } while level.count > 1
        if level[0].node != root {
            branches.free(root, leaving: Branch(parent: Self.none, children: []))
            root = level[0].node
        }
        count = Int(level[0].count)
        weight = Int(level[0].weight)
    }

    /// Sets the parent of `node`. Level 0 are the leaves.
    mutating func setParent(of node: UInt32, level: Int, to parent: UInt32) {
        if level == 0 { leaves[node].parent = parent } else { branches[node].parent = parent }
    }
}

extension Array {
    /// The sum of one number over all elements.
    func sum(_ number: (Element) -> UInt32) -> UInt32 { reduce(0) { $0 + number($1) } }
}
