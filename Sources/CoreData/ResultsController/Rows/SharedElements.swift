/// A block of elements that never changes, kept alive by its owner: an array, or a file mapped into memory.
final class SharedElements<Element: BitwiseCopyable>: @unchecked Sendable {
    let buffer: UnsafeBufferPointer<Element>
    private let release: () -> Void

    /// - Parameter release: called once, when nothing refers to the block any more.
    init(mapped buffer: UnsafeBufferPointer<Element>, release: @escaping () -> Void) {
        self.buffer = buffer
        self.release = release
    }

    /// Copies `elements` into a block of its own.
    convenience init(_ elements: some Collection<Element>) {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
        _ = memory.initialize(fromContentsOf: elements)
        self.init(mapped: UnsafeBufferPointer(memory)) { memory.deallocate() }
    }

    deinit { release() }

    var count: Int { buffer.count }
}

/// The elements of one leaf: a piece of a shared block until the first write, then an array of its own.
struct LeafElements<Element: CountedElement> {
    private var shared: SharedElements<Element>?
    private var start = 0
    private var sharedCount = 0
    private var own: [Element] = []

    init(_ elements: [Element] = []) { own = elements }

    init(_ shared: SharedElements<Element>, start: Int, count: Int) {
        self.shared = shared
        self.start = start
        self.sharedCount = count
    }

    var count: Int { shared == nil ? own.count : sharedCount }

    subscript(slot: Int) -> Element {
        if let shared { return shared.buffer[start + slot] }
        return own[slot]
    }

    /// Calls `body` with the elements in memory, without a copy.
    func withElements<Result>(_ body: (UnsafeBufferPointer<Element>) throws -> Result) rethrows -> Result {
        if let shared { return try body(UnsafeBufferPointer(rebasing: shared.buffer[start..<start + sharedCount])) }
        return try own.withUnsafeBufferPointer(body)
    }

    /// Calls `body` with the elements as an array to change; the first time, the piece of the shared block is copied.
    mutating func change<Result>(_ body: (inout [Element]) throws -> Result) rethrows -> Result {
        if let shared {
            own = Array(shared.buffer[start..<start + sharedCount])
            self.shared = nil
        }
        return try body(&own)
    }
}
