/// Numbered slots whose pages are shared between copies until one of them writes.
///
/// A copy costs one reference; the first write to a page of a shared copy duplicates that page and the list of pages.
struct PagedSlots<Value> {
    private final class Page {
        var values: [Value]

        init(_ values: [Value]) { self.values = values }
    }

    private static var pageSize: Int { 32 }

    private var pages: [Page] = []
    private var freed: [UInt32] = []
    private var used: UInt32 = 0

    /// The number of slots in use.
    var count: Int { Int(used) - freed.count }

    /// The value in slot `number`, which must be in use. Writing in place costs no copy when the page is not shared.
    subscript(number: UInt32) -> Value {
        get { pages[Int(number) / Self.pageSize].values[Int(number) % Self.pageSize] }
        _modify {
            let page = Int(number) / Self.pageSize
            if !isKnownUniquelyReferenced(&pages[page]) { pages[page] = Page(pages[page].values) }
            yield &pages[page].values[Int(number) % Self.pageSize]
        }
    }

    mutating func reserve(_ count: Int) { pages.reserveCapacity(count / Self.pageSize + 1) }

    /// Puts `value` into a free slot and returns the slot's number.
    mutating func add(_ value: Value) -> UInt32 {
        if let number = freed.popLast() {
            self[number] = value
            return number
        }
        let number = used
        let page = Int(number) / Self.pageSize
        if page == pages.count {
            var values: [Value] = []
            values.reserveCapacity(Self.pageSize)
            values.append(value)
            pages.append(Page(values))
        } else {
            if !isKnownUniquelyReferenced(&pages[page]) { pages[page] = Page(pages[page].values) }
            pages[page].values.append(value)
        }
        used += 1
        return number
    }

    /// Gives slot `number` back; `empty` takes the place of the value, so that what it holds is let go.
    mutating func free(_ number: UInt32, leaving empty: Value) {
        self[number] = empty
        freed.append(number)
    }
}
