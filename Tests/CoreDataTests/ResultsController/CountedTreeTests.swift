import Testing

@testable import CoreData

@Suite struct CountedTreeTests {
    @Test(arguments: [0, 1, 255, 256, 257, 12_288, 12_289, 100_000])
    func treeBuiltFromSortedElementsHoldsThem(count: Int) {
        let codes = (0..<count).map { UInt64($0 * 3) }
        let tree = CountedTree(SharedElements(codes.map(RowToken.init)), isUnit: true)
        #expect(tree.brokenInvariant() == nil)
        #expect(tree.count == count && tree.weight == count)
        #expect(tree.elements(in: 0..<count).map(\.code) == codes)
        for position in stride(from: 0, to: count, by: max(1, count / 100)) {
            #expect(tree[position].code == codes[position])
            #expect(tree.position(of: codes[position]) == position)
        }
        #expect(tree.position(of: 1) == nil)
    }

    /// Grows and shrinks trees until leaves and branches split and merge on every level.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func randomEditsAgreeWithAnArray(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var codes = (0..<20_000).map { UInt64($0) << (seed == 2 ? 14 : 0) }
        var tree = CountedTree(SharedElements(codes.map(RowToken.init)), isUnit: true)
        var next = UInt64(1) << 50
        for phase in 0..<4 {
            let grows = phase % 2 == 1
            for step in 0..<(grows ? 6_000 : 12_000) {
                if codes.isEmpty || Int.random(in: 0..<10, using: &random) < (grows ? 9 : 1) {
                    // Insertions at one position fill one leaf after another.
                    let clustered = min(codes.count, 100 + step % 7)
                    let position = step % 3 == 0 ? Int.random(in: 0...codes.count, using: &random) : clustered
                    next += 1
                    tree.insert(RowToken(code: next), at: position)
                    codes.insert(next, at: position)
                } else {
                    let position = min(
                        codes.count - 1, Int.random(in: 0..<(step % 2 == 0 ? codes.count : 2_000), using: &random))
                    if tree.remove(codes[position]) != position { Issue.record("seed \(seed): not at \(position)") }
                    codes.remove(at: position)
                }
            }
            #expect(tree.brokenInvariant() == nil, "seed \(seed), phase \(phase)")
            #expect(tree.elements(in: 0..<tree.count).map(\.code) == codes, "seed \(seed), phase \(phase)")
        }
        for code in codes { tree.remove(code) }
        #expect(tree.count == 0 && tree.brokenInvariant() == nil)
        tree.insert(RowToken(code: 7), at: 0)
        #expect(tree.position(of: 7) == 0)
    }

    @Test func copyKeepsItsStateWhileTheOriginalChanges() {
        var random = SeededGenerator(seed: 4)
        var tree = CountedTree(SharedElements((0..<5_000).map { RowToken(code: $0) }), isUnit: true)
        var copies: [(tree: CountedTree<RowToken>, codes: [UInt64])] = []
        for step in 0..<600 {
            if step % 60 == 0 { copies.append((tree, tree.elements(in: 0..<tree.count).map(\.code))) }
            tree.remove(tree[Int.random(in: 0..<tree.count, using: &random)].code)
            tree.insert(RowToken(code: UInt64(10_000 + step)), at: Int.random(in: 0...tree.count, using: &random))
        }
        for copy in copies {
            #expect(copy.tree.brokenInvariant() == nil)
            #expect(copy.tree.elements(in: 0..<copy.tree.count).map(\.code) == copy.codes)
            #expect(copy.codes.indices.allSatisfy { copy.tree.position(of: copy.codes[$0]) == $0 })
        }
    }

    @Test func weightsFindTheElementThatCoversAnOffset() {
        var random = SeededGenerator(seed: 5)
        var entries = (0..<3_000).map { SectionEntry(number: $0, rowCount: UInt32.random(in: 1...9, using: &random)) }
        var tree = CountedTree(SharedElements(entries), isUnit: false)
        for step in 0..<2_000 {
            let position = Int.random(in: 0..<entries.count, using: &random)
            switch step % 3 {
            case 0:
                entries[position].rowCount += 1
                tree.replace(entries[position])
            case 1:
                let entry = SectionEntry(number: UInt32(10_000 + step), rowCount: 3)
                entries.insert(entry, at: position)
                tree.insert(entry, at: position)
            default:
                tree.remove(entries.remove(at: position).code)
            }
        }
        #expect(tree.brokenInvariant() == nil)
        var offset = 0
        for (position, entry) in entries.enumerated() {
            #expect(tree.weight(before: position) == offset)
            let last = tree.locate(weight: offset + entry.weight - 1)
            #expect(last.position == position && last.element == entry && last.remainder == entry.weight - 1)
            #expect(tree.entry(of: entry.code)?.weightBefore == offset)
            offset += entry.weight
        }
    }

    @Test func indexFindsCodesThatAreCloseTogetherAndFarApart() {
        var random = SeededGenerator(seed: 6)
        var codes: Set<UInt64> = Set(5_000..<9_000)
        for _ in 0..<2_000 { codes.insert(UInt64.random(in: 0...UInt64.max, using: &random)) }
        for entity in 1..<9 as Range<UInt64> {
            for row in 1..<300 as Range<UInt64> { codes.insert(entity << 48 | row * 5) }
        }
        let ordered = codes.shuffled(using: &random)
        var tree = CountedTree(SharedElements(ordered.map(RowToken.init)), isUnit: true)
        #expect(ordered.indices.allSatisfy { tree.position(of: ordered[$0]) == $0 })
        for code in ordered.prefix(3_000) { tree.remove(code) }
        #expect(ordered.prefix(3_000).allSatisfy { tree.position(of: $0) == nil })
        #expect(ordered.dropFirst(3_000).enumerated().allSatisfy { tree.position(of: $1) == $0 })
    }

    @Test func blockIsLetGoWithTheLastCopy() {
        final class Witness {}
        weak var witness: Witness?
        do {
            let kept = Witness()
            witness = kept
            let memory = UnsafeMutableBufferPointer<RowToken>.allocate(capacity: 1_000)
            for number in 0..<1_000 { memory.initializeElement(at: number, to: RowToken(code: UInt64(number))) }
            let block = SharedElements(mapped: UnsafeBufferPointer(memory)) { [kept] in
                _ = kept
                memory.deallocate()
            }
            var tree = CountedTree(block, isUnit: true)
            tree.remove(3)
            #expect(tree.count == 999)
        }
        #expect(witness == nil)
    }
}
