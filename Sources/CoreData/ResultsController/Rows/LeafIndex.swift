/// Maps the code of an element to its leaf.
///
/// Design. Codes are usually primary keys, so they form dense ranges. A page covers 1,024 adjacent codes, and holds
/// either one leaf number for each of them (4 bytes a row) or, while few of them are in use, a sorted list of those in
/// use. A shelf has sixteen pages, a block sixteen shelves; blocks are in a dictionary. Copies share all of them: a
/// write to a shared copy duplicates one page and the lists that contain it.
struct LeafIndex {
    static let none = UInt32.max

    fileprivate static let pageSize = 1024
    /// A page with more entries than this is dense: a sparse entry takes six bytes, a dense one four.
    fileprivate static let mostSparseEntries = 512

    // SAFETY: a look-up takes five steps through these, each of which is a plain load or store in here: no accesses
    // overlap.
    private final class Shelf {
        @exclusivity(unchecked) var pages: [LeafIndexPage?]

        init(_ pages: [LeafIndexPage?] = Array(repeating: nil, count: 16)) { self.pages = pages }
    }

    private final class Block {
        @exclusivity(unchecked) var shelves: [Shelf?]

        init(_ shelves: [Shelf?] = Array(repeating: nil, count: 16)) { self.shelves = shelves }
    }

    private var blocks: [UInt64: Block] = [:]

    init() {}

    /// The leaf of the element with `code`, or ``none``. A hash look-up and three steps.
    subscript(code: UInt64) -> UInt32 {
        get {
            guard let shelf = blocks[code >> 18]?.shelves[Int(code >> 14) & 15],
                let page = shelf.pages[Int(code >> 10) & 15]
            else { return Self.none }
            return page[Int(code & 1023)]
        }
        set { ownPage(code >> 10)[Int(code & 1023)] = newValue }
    }

    /// The page with a number for writing, created if needed, and copied if it is shared.
    private mutating func ownPage(_ number: UInt64) -> LeafIndexPage {
        var block = blocks.removeValue(forKey: number >> 8) ?? Block()
        if !isKnownUniquelyReferenced(&block) { block = Block(block.shelves) }
        blocks[number >> 8] = block
        let shelfNumber = Int(number >> 4) & 15
        var shelf = block.shelves[shelfNumber] ?? Shelf()
        block.shelves[shelfNumber] = nil
        if !isKnownUniquelyReferenced(&shelf) { shelf = Shelf(shelf.pages) }
        block.shelves[shelfNumber] = shelf
        let pageNumber = Int(number) & 15
        var page = shelf.pages[pageNumber] ?? LeafIndexPage()
        shelf.pages[pageNumber] = nil
        if !isKnownUniquelyReferenced(&page) { page = LeafIndexPage(copying: page) }
        shelf.pages[pageNumber] = page
        return page
    }

    private mutating func put(_ page: LeafIndexPage, at number: UInt64) {
        let block = blocks[number >> 8] ?? Block()
        let shelf = block.shelves[Int(number >> 4) & 15] ?? Shelf()
        shelf.pages[Int(number) & 15] = page
        block.shelves[Int(number >> 4) & 15] = shelf
        blocks[number >> 8] = block
    }
}

extension LeafIndex {
    /// Builds the index of many elements at once: about 10 ns each.
    ///
    /// - Parameter forEachLeaf: calls its argument with each leaf and its elements; it is called several times.
    // SAFETY: the elements are read during each call, while the tree holds them.
    init<Element: CountedElement>(
        _: Element.Type, forEachLeaf: ((UInt32, UnsafeBufferPointer<Element>) -> Void) -> Void
    ) {
        var numbers = PageNumbers()
        forEachLeaf { _, elements in for element in elements { numbers.include(element.code >> 10) } }
        numbers.finish()
        forEachLeaf { _, elements in for element in elements { numbers.countEntry(in: element.code >> 10) } }
        let pages = numbers.counts.map { LeafIndexPage(expecting: $0) }
        forEachLeaf { leaf, elements in
            for element in elements {
                pages[numbers.number(of: element.code >> 10)].collect(Int(element.code & 1023), leaf)
            }
        }
        for (page, number) in numbers.all where numbers.counts[number] > 0 {
            pages[number].finishCollecting()
            put(pages[number], at: page)
        }
    }

    /// Numbers the pages for a bulk build: by subtraction if they are close together, otherwise by hashing.
    private struct PageNumbers {
        private(set) var counts: [Int] = []
        private var lowest = UInt64.max
        private var highest = UInt64.min
        private var hashed: [UInt64: Int]?

        mutating func include(_ page: UInt64) {
            lowest = min(lowest, page)
            highest = max(highest, page)
        }

        mutating func finish() {
            guard lowest <= highest else { return }
            if highest - lowest < 1 << 16 {
                counts = Array(repeating: 0, count: Int(highest - lowest) + 1)
            } else {
                hashed = [:]
            }
        }

        mutating func countEntry(in page: UInt64) {
            if hashed != nil && hashed?[page] == nil {
                hashed?[page] = counts.count
                counts.append(0)
            }
            counts[number(of: page)] += 1
        }

        func number(of page: UInt64) -> Int {
            guard let hashed else { return Int(page - lowest) }
            return hashed[page] ?? 0
        }

        var all: [(page: UInt64, number: Int)] {
            if let hashed { return hashed.map { ($0.key, $0.value) } }
            return counts.indices.map { (lowest + UInt64($0), $0) }
        }
    }
}

/// A page of the index: the leaf numbers for 1,024 adjacent row codes.
// SAFETY: as for the shelves.
private final class LeafIndexPage {
    /// The codes in use, ascending; empty if the page is dense.
    @exclusivity(unchecked) private var offsets: [UInt16] = []
    @exclusivity(unchecked) private var leaves: [UInt32] = []
    @exclusivity(unchecked) private var isDense = false

    init() {}

    init(copying other: LeafIndexPage) {
        offsets = other.offsets
        leaves = other.leaves
        isDense = other.isDense
    }

    init(expecting count: Int) {
        isDense = count > LeafIndex.mostSparseEntries
        if isDense {
            leaves = Array(repeating: LeafIndex.none, count: LeafIndex.pageSize)
        } else {
            offsets.reserveCapacity(count)
            leaves.reserveCapacity(count)
        }
    }

    subscript(offset: Int) -> UInt32 {
        get {
            if isDense { return leaves[offset] }
            let place = place(of: UInt16(offset))
            return place < offsets.count && offsets[place] == UInt16(offset) ? leaves[place] : LeafIndex.none
        }
        set {
            if isDense {
                leaves[offset] = newValue
                return
            }
            let place = place(of: UInt16(offset))
            let isKnown = place < offsets.count && offsets[place] == UInt16(offset)
            switch (isKnown, newValue == LeafIndex.none) {
            case (true, false): leaves[place] = newValue
            case (true, true):
                offsets.remove(at: place)
                leaves.remove(at: place)
            case (false, true): break
            case (false, false):
                offsets.insert(UInt16(offset), at: place)
                leaves.insert(newValue, at: place)
                if offsets.count > LeafIndex.mostSparseEntries { makeDense() }
            }
        }
    }

    /// Adds an entry in any order, before ``finishCollecting()``.
    // SAFETY: a dense page has a place for each offset, which is below 1,024.
    @inline(__always)
    func collect(_ offset: Int, _ leaf: UInt32) {
        if isDense {
            leaves.withUnsafeMutableBufferPointer { $0[offset] = leaf }
        } else {
            offsets.append(UInt16(offset))
            leaves.append(leaf)
        }
    }

    func finishCollecting() {
        guard !isDense, offsets.count > 1 else { return }
        let order = offsets.indices.sorted { offsets[$0] < offsets[$1] }
        offsets = order.map { offsets[$0] }
        leaves = order.map { leaves[$0] }
    }

    private func makeDense() {
        var dense = Array(repeating: LeafIndex.none, count: LeafIndex.pageSize)
        for (place, offset) in offsets.enumerated() { dense[Int(offset)] = leaves[place] }
        leaves = dense
        offsets = []
        isDense = true
    }

    private func place(of offset: UInt16) -> Int { offsets.partitioningIndex { $0 >= offset } }
}
