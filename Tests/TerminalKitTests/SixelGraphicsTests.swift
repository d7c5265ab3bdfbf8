import Foundation
import Testing

@testable import TerminalKit

/// Pictures in terminals that support sixels: decoding of files, encoding of colours and lines.
@Suite struct SixelGraphicsTests {
    private static func file(_ base64: String) throws -> Data { try #require(Data(base64Encoded: base64)) }

    /// 9×7 pixels, `(28x, 36y, 15(x + y))`, with each filter.
    private static let colors =
        "iVBORw0KGgoAAAANSUhEUgAAAAkAAAAHCAIAAABV+fA3AAAAR0lEQVR42mNkYGCQYeDHipgYVPhxIWYGM3E+"
        + "IX6siAWkhAEXmmAjM8HbYkJUyITMggkVPRPaV0yYdmTC0gcTtjAybPEmxy0ANDAW+3HMD5gAAAAASUVORK5C"
        + "YII="
    /// The same with alpha, in the seven passes of Adam7.
    private static let interlaced =
        "iVBORw0KGgoAAAANSUhEUgAAAAkAAAAHCAYAAAGtnFf2AAAAU0lEQVR42mNhYGD4/4ChgoGlgMHmPwvDBJv/"
        + "QAYDCLNYMMiBOSBRoDIQw0PuP1CUARlDZeVQMIsMA/9/VFUeaCqIEFDh/w80hwEfhurix4uJUgQALAYXGkWg"
        + "EcYAAAAASUVORK5CYII="
    /// 5×2 pixels of two bits with a palette whose first colour is transparent.
    private static let palette =
        "iVBORw0KGgoAAAANSUhEUgAAAAUAAAACAgMAAADtBP7OAAAADFBMVEUBAgMKFB4oMjxGUFqI2BSPAAAAAXRS"
        + "TlMAQObYZgAAAA5JREFUeNpjkGZgyHEAAAGlAMjSDFW8AAAAAElFTkSuQmCC"
    /// 4×6 pixels, all red.
    private static let red =
        "iVBORw0KGgoAAAANSUhEUgAAAAQAAAAGCAIAAABrW6giAAAAEElEQVR42mP4z8AARwyUcgC8uxfpwCafSwAA"
        + "AABJRU5ErkJggg=="

    @Test func filesAreDecoded() throws {
        for text in [Self.colors, Self.interlaced] {
            let image = try #require(PNGImage(try Self.file(text)))
            #expect(image.width == 9 && image.height == 7)
            for y in 0..<7 {
                for x in 0..<9 {
                    let pixel = Array(image.pixels[((y * 9 + x) * 4)..<((y * 9 + x) * 4 + 4)])
                    #expect(pixel == [UInt8(28 * x), UInt8(36 * y), UInt8(15 * (x + y)), 255])
                }
            }
        }
        let image = try #require(PNGImage(try Self.file(Self.palette)))
        #expect(Array(image.pixels[0..<8]) == [1, 2, 3, 0, 10, 20, 30, 255])
        #expect(Array(image.pixels[28..<36]) == [70, 80, 90, 255, 1, 2, 3, 0])
    }

    @Test func damagedFilesAreNotImages() throws {
        let file = try Self.file(Self.colors)
        for length in 0..<(file.count - 20) { #expect(PNGImage(file.prefix(length)) == nil) }
        for place in 8..<file.count {
            var damaged = file
            damaged[place] ^= UInt8(truncatingIfNeeded: 1 + place * 37)
            // A decoded image has the size that it declares.
            if let image = PNGImage(damaged) { #expect(image.pixels.count == image.width * image.height * 4) }
        }
    }

    @Test func pixelsAreSixels() throws {
        let image = try #require(PNGImage(try Self.file(Self.red)))
        let code = SixelGraphics.code(of: image, width: 4, height: 6)
        #expect(code == "\u{1B}P0;1q\"1;1;4;6#180;2;100;0;0#180!4~-\u{1B}\\", "\(code.debugDescription)")
        // Twice the size keeps the proportions, in at most three bands of six lines.
        let large = SixelGraphics.code(of: image, width: 100, height: 12)
        #expect(large.contains("\"1;1;8;12#180") && large.split(separator: "-").count == 3)
        // Transparent pixels are not drawn.
        let holes = SixelGraphics.code(of: try #require(PNGImage(try Self.file(Self.palette))), width: 5, height: 2)
        #expect(!holes.contains("~") && holes.contains("\"1;1;5;2"))
    }

    @Test func overwrittenPicturesAreSentAgainAndDeleted() throws {
        var graphics = SixelGraphics()
        let picture = Picture(png: try Self.file(Self.red), frame: Rect(x: 4, y: 2, width: 2, height: 3))
        let cell = Size(width: 2, height: 4)
        func text(_ pictures: [Picture], written: Set<Int> = []) -> String {
            graphics.text(toShow: pictures, isDamaged: { $0.contains { written.contains($0) } }, cell: cell)
        }
        let first = text([picture])
        #expect(first.hasPrefix("\u{1B}7\u{1B}[3;5H\u{1B}P") && first.hasSuffix("\u{1B}\\\u{1B}8"))
        #expect(text([picture]) == "" && text([picture], written: [5]) == "")
        #expect(text([picture], written: [4]) == first)
        #expect(graphics.lines(toClearFor: [picture]).isEmpty && graphics.lines(toClearFor: []) == [2..<5])
        #expect(text([]) == "" && graphics.lines(toClearFor: []).isEmpty)
        #expect(text([Picture(png: Data([1]), frame: picture.frame)]) == "")
    }

    @Test func terminalsSayWhetherTheyDrawSixels() {
        #expect(SixelGraphics.isKnown(by: "?62;4;22c") == true)
        #expect(SixelGraphics.isKnown(by: "?1;2c") == false && SixelGraphics.isKnown(by: "?4c") == false)
        #expect(SixelGraphics.isKnown(by: "?2026;4$y") == nil)
    }
}
