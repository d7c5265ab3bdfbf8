import Foundation
import Testing

@testable import TerminalKit

/// Pictures in terminals that support kitty's protocol.
@Suite struct KittyGraphicsTests {
    @Test func picturesAreSentOnceAndDeleted() {
        var graphics = KittyGraphics()
        let picture = Picture(png: Data(repeating: 7, count: 5000), frame: Rect(x: 4, y: 2, width: 10, height: 5))
        let text = graphics.text(toShow: [picture])
        #expect(text.hasPrefix("\u{1B}7") && text.hasSuffix("\u{1B}8"))
        #expect(text.contains("\u{1B}[3;5H\u{1B}_Ga=T,f=100,q=2,C=1,c=10,r=5,m=1;"))
        #expect(text.contains("\u{1B}_Gm=0,q=2;"))
        let parts = text.split(separator: "\u{1B}_G").compactMap { part -> Substring? in
            guard let start = part.firstIndex(of: ";"), let end = part.firstIndex(of: "\u{1B}"), start < end else {
                return nil
            }
            return part[part.index(after: start)..<end]
        }
        #expect(Data(base64Encoded: parts.joined()) == picture.png)
        #expect(graphics.text(toShow: [picture]) == "")
        #expect(graphics.text(toShow: []).contains("a=d,d=A"))
        #expect(graphics.text(toShow: []) == "")
    }

    @Test func terminalsAreRecognisedByTheirEnvironment() {
        #expect(KittyGraphics.isKnown(to: ["TERM": "xterm-kitty"]))
        #expect(KittyGraphics.isKnown(to: ["TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"]))
        #expect(!KittyGraphics.isKnown(to: ["TERM": "tmux-256color", "TMUX": "x", "KITTY_WINDOW_ID": "1"]))
        #expect(!KittyGraphics.isKnown(to: ["TERM": "xterm-256color"]))
    }

    @Test func aCanvasTakesWholePicturesOnly() {
        let grid = CellGrid(size: Size(width: 20, height: 10))
        let canvas = Canvas(grid: grid, text: TextWidth()).part(x: 2, y: 2, width: 10, height: 5)
        canvas.place(png: Data([1]), x: 1, y: 1, width: 4, height: 3)
        canvas.place(png: Data([2]), x: 8, y: 1, width: 4, height: 3)
        #expect(grid.pictures.map(\.frame) == [Rect(x: 3, y: 3, width: 4, height: 3)])
    }
}
