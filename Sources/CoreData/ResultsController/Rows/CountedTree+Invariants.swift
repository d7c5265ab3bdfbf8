extension CountedTree {
    /// Checks every invariant of the tree, O(n), and returns the first violation, or `nil`. For tests.
    func brokenInvariant() -> String? {
        var problem: String?
        var seenLeaves = 0
        var seenBranches = 0
        var codes: Set<UInt64> = []
        func note(_ text: String) { if problem == nil { problem = text } }

        func visit(_ node: UInt32, level: Int, parent: UInt32) -> (count: Int, weight: Int) {
            guard level > 0 else {
                seenLeaves += 1
                if leaves[node].parent != parent { note("leaf \(node) does not know its parent") }
                return leaves[node].elements.withElements { elements in
                    if elements.isEmpty { note("leaf \(node) is empty") }
                    if elements.count > Self.maximumLeaf { note("leaf \(node) holds \(elements.count) elements") }
                    for element in elements {
                        if !codes.insert(element.code).inserted { note("\(element.code) stands twice") }
                        if let index = holder.index, index[element.code] != node {
                            note("the index does not find \(element.code) in leaf \(node)")
                        }
                    }
                    return (elements.count, elements.reduce(0) { $0 + $1.weight })
                }
            }
            seenBranches += 1
            if branches[node].parent != parent { note("branch \(node) does not know its parent") }
            if branches[node].children.isEmpty && node != root { note("branch \(node) is empty") }
            if branches[node].children.count > Self.maximumBranch { note("branch \(node) is too wide") }
            var sum = (count: 0, weight: 0)
            for child in branches[node].children {
                let below = visit(child.node, level: level - 1, parent: node)
                if below.count != Int(child.count) { note("branch \(node) counts \(child.count), not \(below.count)") }
                if below.weight != Int(child.weight) {
                    note("branch \(node) weighs \(child.weight), not \(below.weight)")
                }
                sum.count += below.count
                sum.weight += below.weight
            }
            return sum
        }

        let sum = visit(root, level: height, parent: Self.none)
        if sum.count != count || sum.weight != weight { note("the tree's sums are wrong") }
        if seenLeaves != leaves.count || seenBranches != branches.count {
            note("slots are in use that no branch names")
        }
        if height > 1 && branches[root].children.count < 2 { note("the root has one child") }
        return problem
    }
}
