/// Rows that may have to be reported, and their places in the old and in the new state of a list.
struct TouchedRows {
    let tokens: [RowToken]
    let old: TouchedPlaces
    let new: TouchedPlaces

    init(_ tokens: [RowToken], old: ListContents, new: ListContents) {
        self.tokens = tokens
        self.old = TouchedPlaces(of: tokens, in: old)
        self.new = TouchedPlaces(of: tokens, in: new)
    }
}

/// The places of touched rows in one state of a list.
struct TouchedPlaces {
    struct Place {
        let path: ListContents.Path
        /// The number of the row's section.
        let section: UInt32
        /// The number of untouched rows of its section before it.
        let gap: UInt32
        /// The row's position among the touched rows.
        let order: UInt32
    }

    /// The place of each row; `nil` for rows that the list does not have.
    private(set) var places: [Place?]
    /// The numbers of the rows that the list has, by ascending path.
    private(set) var order: [Int] = []
    /// The sections that have no untouched row.
    private(set) var wholeSections: [(number: UInt32, index: Int)] = []

    init(of tokens: [RowToken], in contents: ListContents) {
        places = Array(repeating: nil, count: tokens.count)
        let found = contents.positions(of: tokens)
        order.reserveCapacity(found.count)
        var section = SectionCursor(contents, stops: found.count)
        var touched = 0
        for (order, row) in found.enumerated() {
            if section.move(to: row.position) { touched = 0 }
            let path = ListContents.Path(section: section.index, row: row.position - section.start)
            places[row.number] = Place(
                path: path, section: section.entry.number, gap: UInt32(path.row - touched), order: UInt32(order))
            self.order.append(row.number)
            touched += 1
            if touched == section.entry.weight { wholeSections.append((section.entry.number, section.index)) }
        }
        wholeSections += contents.emptySections
    }
}

/// Iterates over those sections of a list that contain some rows.
private struct SectionCursor {
    private let contents: ListContents
    /// All sections, if so many are needed that iterating over all is quicker.
    private let all: [SectionEntry]?
    private(set) var index = -1
    private(set) var entry = SectionEntry(number: 0, rowCount: 0)
    /// The position of the section's first row.
    private(set) var start = 0
    private var end = 0

    init(_ contents: ListContents, stops: Int) {
        self.contents = contents
        all = stops > contents.sectionCount / 8 ? contents.allSections : nil
    }

    /// Moves to the section of the row at `position`, which is not before the last one.
    ///
    /// - Returns: True if that is another section.
    mutating func move(to position: Int) -> Bool {
        guard position >= end else { return false }
        guard let all else {
            let place = contents.sections.locate(weight: position)
            (index, entry, start) = (place.position, place.element, position - place.remainder)
            end = start + entry.weight
            return true
        }
        while position >= end {
            index += 1
            entry = all[index]
            (start, end) = (end, end + entry.weight)
        }
        return true
    }
}
