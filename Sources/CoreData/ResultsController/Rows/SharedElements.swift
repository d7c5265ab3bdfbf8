/// A block of elements that never changes, kept alive by its owner: an array, or a file mapped into memory.
// SAFETY: the memory is never changed, and lives until `deinit`.
// SAFETY: `release`, called once, frees the memory; nothing reads it after `deinit`.
final class SharedElements<Element: BitwiseCopyable>: @unchecked Sendable {
    let buffer: UnsafeBufferPointer<Element>
    private let release: () -> Void

    /// - Parameter release: called once, when nothing refers to the block any more.
    init(mapped buffer: UnsafeBufferPointer<Element>, release: @escaping () -> Void) {
        self.buffer = buffer
        self.release = release
    }

    /// Copies `elements` into a new block.
    convenience init(_ elements: some Collection<Element>) {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
        _ = memory.initialize(fromContentsOf: elements)
        self.init(mapped: UnsafeBufferPointer(memory)) { memory.deallocate() }
    }

    /// Creates a block with the result of `element` for each index.
    convenience init(count: Int, _ element: (Int) throws -> Element) rethrows {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: count)
        do {
            for place in 0..<count { memory.initializeElement(at: place, to: try element(place)) }
        } catch {
            memory.deallocate()
            throw error
        }
        self.init(mapped: UnsafeBufferPointer(memory)) { memory.deallocate() }
    }

    deinit { release() }

    var count: Int { buffer.count }
}

/// The elements of one leaf: a slice of a shared block until the first write, then an array.
// SAFETY: the slice is within its block, which the storage holds during each closure.
struct LeafElements<Element: CountedElement> {
    private enum Storage {
        case piece(SharedElements<Element>, start: Int32, count: Int32)
        case own([Element])
    }

    private var storage: Storage

    init(_ elements: [Element] = []) { storage = .own(elements) }

    init(_ shared: SharedElements<Element>, start: Int, count: Int) {
        storage = .piece(shared, start: Int32(start), count: Int32(count))
    }

    var count: Int {
        switch storage {
        case .piece(_, _, let count): Int(count)
        case .own(let elements): elements.count
        }
    }

    subscript(slot: Int) -> Element {
        switch storage {
        case .piece(let block, let start, _): block.buffer[Int(start) + slot]
        case .own(let elements): elements[slot]
        }
    }

    /// Calls `body` with the elements in memory, without a copy.
    func withElements<Result>(_ body: (UnsafeBufferPointer<Element>) throws -> Result) rethrows -> Result {
        switch storage {
        case .piece(let block, let start, let count):
            try body(UnsafeBufferPointer(rebasing: block.buffer[Int(start)..<Int(start) + Int(count)]))
        case .own(let elements): try elements.withUnsafeBufferPointer(body)
        }
    }

    /// Calls `body` with the elements as a mutable array; the first call copies the slice of the shared block.
    mutating func change<Result>(_ body: (inout [Element]) throws -> Result) rethrows -> Result {
        var elements: [Element]
        switch storage {
        case .piece(let block, let start, let count):
            elements = Array(block.buffer[Int(start)..<Int(start) + Int(count)])
        case .own(let own): elements = own
        }
        // A second reference to the array would cause a copy.
        storage = .own([])
        defer { storage = .own(elements) }
        return try body(&elements)
    }
}
