import Testing

@testable import TerminalKit

/// The visible columns of a list: scrolling, frozen columns and widths.
@Suite struct ColumnStripTests {
    /// Columns of the given widths that are never narrower than their texts.
    private func strip(_ widths: [Int], frozen: Int = 1) -> ColumnStrip {
        var strip = ColumnStrip(widths.enumerated().map { column($0, $1) })
        strip.frozen = frozen
        return strip
    }

    private func column(_ index: Int, _ width: Int) -> ListColumn {
        ListColumn(id: "\(index) \(width)", title: "", isFlexible: false, width: width)
    }

    private func shown(_ strip: inout ColumnStrip, _ end: Int) -> [Int] {
        strip.layOut(in: end) { _, _ in 1 }
        return strip.layout.places.map(\.column)
    }

    /// Everything that holds for each layout, whatever the widths, the focus and the screen.
    @Test func everyLayoutShowsTheFocusAndFillsTheScreen() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<3000 {
            let widths = (0..<Int.random(in: 1...12, using: &random)).map { _ in Int.random(in: 1...40, using: &random)
            }
            var strip = strip(widths, frozen: Int.random(in: 0...4, using: &random))
            let end = Int.random(in: 8...120, using: &random)
            for _ in 0..<6 {
                strip.setFocus(Int.random(in: 0..<widths.count, using: &random))
                strip.layOut(in: end) { _, _ in 1 }
                let layout = strip.layout
                let what = "\(widths) \(strip.frozen) focus \(strip.focus) in \(end): \(layout)"
                let indices = layout.places.map(\.column)
                #expect(indices.contains(strip.focus), "\(what)")
                #expect(indices.count + layout.hiddenLeft + layout.hiddenRight == widths.count, "\(what)")
                #expect(layout.places.allSatisfy { $0.width >= 1 && $0.x >= 2 && $0.x + $0.width <= end }, "\(what)")
                for (place, next) in zip(layout.places, layout.places.dropFirst()) {
                    #expect(place.x + place.width + 2 <= next.x, "\(what)")
                }
                // Columns are hidden only if less than the beginning of one more fits.
                let last = layout.places.last.map { $0.x + $0.width } ?? 0
                if layout.hiddenRight > 0 { #expect(end - last < 2 + 3 + (layout.showsNotes ? 5 : 0), "\(what)") }
                if layout.hiddenLeft > 0, layout.hiddenRight == 0 { #expect(end - last < 2 + 3, "\(what)") }
            }
        }
    }

    @Test func columnsScrollWholeAndOnlyAsFarAsNeeded() {
        var strip = strip([10, 10, 10, 10, 10, 10, 10])
        // 2 + 10, then 12 for each further column, and 4 for the number of those that are hidden.
        #expect(shown(&strip, 40) == [0, 1, 2] && strip.layout.hiddenRight == 4)
        strip.setFocus(2)
        #expect(shown(&strip, 40) == [0, 1, 2])
        strip.setFocus(3)
        #expect(shown(&strip, 40) == [0, 3, 4] && strip.layout.hiddenLeft == 2 && strip.layout.places[2].width == 8)
        strip.setFocus(2)
        #expect(shown(&strip, 40) == [0, 2, 3])
        strip.setFocus(6)
        #expect(shown(&strip, 40) == [0, 5, 6] && strip.layout.hiddenRight == 0)
        strip.setFocus(0)
        #expect(shown(&strip, 40) == [0, 1, 2])
        #expect(shown(&strip, 200) == [0, 1, 2, 3, 4, 5, 6])
    }

    /// A column that does not fit is cut; at the end of the list, one at the left is.
    @Test func columnsAreCutToWhatIsLeft() {
        var strip = strip([10, 30, 30])
        #expect(shown(&strip, 60) == [0, 1, 2])
        #expect(strip.layout.places.map(\.width) == [10, 30, 14] && strip.layout.hiddenRight == 0)
        strip.setFocus(2)
        #expect(shown(&strip, 60) == [0, 1, 2])
        #expect(strip.layout.places.map(\.width) == [10, 14, 30] && strip.layout.hiddenLeft == 0)
        strip.setFocus(1)
        #expect(shown(&strip, 60) == [0, 1, 2] && strip.layout.places.map(\.width) == [10, 30, 14])
        // One that is wider than the screen begins at its start.
        var wide = self.strip([10, 200, 5])
        wide.setFocus(1)
        #expect(shown(&wide, 40) == [0, 1] && wide.layout.places[1].width > 15 && wide.layout.hiddenRight == 1)
    }

    @Test func frozenColumnsStayAsFarAsTheyLeaveRoom() {
        var strip = strip([10, 10, 10, 10, 10], frozen: 2)
        strip.setFocus(4)
        #expect(shown(&strip, 42) == [0, 1, 4] && strip.layout.naming == 2)
        strip.frozen = 5
        strip.setFocus(2)
        #expect(shown(&strip, 42).starts(with: [0, 1, 2]) && strip.layout.naming == 2)
        strip.frozen = 0
        strip.setFocus(4)
        #expect(shown(&strip, 42) == [1, 2, 3, 4] && strip.layout.naming == 1 && strip.layout.leftNoteX == 0)
        #expect(strip.layout.places[0].width == 3 && strip.layout.hiddenLeft == 1)
        // A name may take half of the screen.
        var wide = self.strip([90, 10, 10])
        wide.setFocus(2)
        #expect(shown(&wide, 42).contains(2) && wide.layout.places[0].width == 20)
    }

    /// Long texts share the screen; if all columns are visible, they use the rest of it.
    @Test func longTextsGetTheRestOfTheScreen() {
        let texts = (0..<4).map { ListColumn(id: "\($0)", title: "", leastWidth: 12) }
        var strip = ColumnStrip(texts)
        strip.layOut(in: 80) { index, _ in [30, 40, 8, 50][index] }
        #expect(strip.layout.places.map(\.width) == [30, 22, 8, 12])
        strip.layOut(in: 30) { index, _ in [30, 40, 8, 50][index] }
        #expect(strip.layout.places.map(\.width) == [12, 10] && strip.layout.hiddenRight == 2)
        var single = ColumnStrip([texts[0]])
        single.layOut(in: 80) { _, _ in 100 }
        #expect(single.layout.places.map(\.width) == [78])
        var none = ColumnStrip([])
        none.layOut(in: 80) { _, _ in 100 }
        #expect(none.layout == ColumnStrip.Layout())
    }

    @Test func onlyColumnsThatMayBeVisibleAreMeasured() {
        var strip = ColumnStrip((0..<60).map { ListColumn(id: "\($0)", title: "", isFlexible: false) })
        func measured(_ focus: Int) -> [Int] {
            var measured: [Int] = []
            strip.setFocus(focus)
            strip.layOut(in: 80) { index, _ in
                measured.append(index)
                return 10
            }
            #expect(Set(measured).count == measured.count)
            return measured.sorted()
        }
        #expect(measured(0) == Array(0...6))
        #expect(measured(59) == [0] + Array(54...59))
        #expect(measured(30) == [0] + Array(30...35))
    }

    /// Columns keep their positions while the rows scroll, until other columns are shown.
    @Test func widthsOnlyGrow() {
        var strip = ColumnStrip([ListColumn(id: "a", title: ""), ListColumn(id: "b", title: "")])
        strip.layOut(in: 80) { _, _ in 9 }
        strip.layOut(in: 80) { _, _ in 4 }
        #expect(strip.layout.places.map(\.width) == [9, 9])
        strip.reset()
        strip.layOut(in: 80) { _, _ in 4 }
        #expect(strip.layout.places.map(\.width) == [4, 4])
    }
}
