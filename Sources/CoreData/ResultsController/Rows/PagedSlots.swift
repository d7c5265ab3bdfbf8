/// Numbered slots whose pages are shared between copies until one of them writes.
///
/// A page has sixteen slots, a chapter sixteen pages. A copy costs one reference; the first write of a copy to a page
/// duplicates the page, its chapter's list of pages and the list of chapters: some dozens of references in all.
struct PagedSlots<Value> {
    // SAFETY: a write in place calls no code that could access the same slot, so accesses do not overlap. Run-time
    // checks would slow down every step through a tree.
    private final class Page {
        @exclusivity(unchecked) var values: [Value]

        init(_ values: [Value]) { self.values = values }
    }

    private final class Chapter {
        @exclusivity(unchecked) var pages: [Page]

        init(_ pages: [Page]) { self.pages = pages }
    }

    private var chapters: [Chapter] = []
    private var freed: [UInt32] = []
    private var used: UInt32 = 0

    /// The number of slots in use.
    var count: Int { Int(used) - freed.count }

    /// The value in slot `number`, which must be in use. Writing in place copies nothing if the page is not shared.
    subscript(number: UInt32) -> Value {
        get { chapters[Int(number >> 8)].pages[Int(number >> 4) & 15].values[Int(number & 15)] }
        _modify {
            ownChapter(Int(number >> 8))
            let chapter = chapters[Int(number >> 8)]
            Self.ownPage(Int(number >> 4) & 15, of: chapter)
            yield &chapter.pages[Int(number >> 4) & 15].values[Int(number & 15)]
        }
    }

    /// Stores `value` in a free slot and returns the slot's number.
    mutating func add(_ value: Value) -> UInt32 {
        if let number = freed.popLast() {
            self[number] = value
            return number
        }
        let number = used
        used += 1
        if number & 255 == 0 { chapters.append(Chapter([])) }
        ownChapter(Int(number >> 8))
        let chapter = chapters[Int(number >> 8)]
        if number & 15 == 0 {
            chapter.pages.append(Page([value]))
        } else {
            Self.ownPage(Int(number >> 4) & 15, of: chapter)
            chapter.pages[Int(number >> 4) & 15].values.append(value)
        }
        return number
    }

    /// Frees slot `number`; `empty` replaces the value, so that its references are released.
    mutating func free(_ number: UInt32, leaving empty: Value) {
        self[number] = empty
        freed.append(number)
    }

    private mutating func ownChapter(_ number: Int) {
        if !isKnownUniquelyReferenced(&chapters[number]) { chapters[number] = Chapter(chapters[number].pages) }
    }

    private static func ownPage(_ number: Int, of chapter: Chapter) {
        if !isKnownUniquelyReferenced(&chapter.pages[number]) {
            chapter.pages[number] = Page(chapter.pages[number].values)
        }
    }
}
