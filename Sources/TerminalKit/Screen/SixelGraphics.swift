import Foundation

/// Pictures as sixels, which xterm, foot, mlterm, Konsole, Windows Terminal and others draw: six lines of pixels at a time,
/// each colour by itself.
///
/// Design note. The terminal says by its answer to DA1 (attribute 4) that it draws them. It knows no files, so a PNG is
/// decoded, brought to the size of its cells, and to the 216 colours of a cube of 6×6×6, with a pattern that makes the
/// steps between them fine. A picture goes away when its cells are written again.
struct SixelGraphics {
    /// Larger ones take too long over a slow line.
    static let greatestPicture = 2 << 20
    private var shown: [Picture] = []
    /// The codes of the pictures that are shown, for cells of that size: they are sent again when their lines change.
    private var codes: [Picture: String] = [:]
    private var cell = Size(width: 0, height: 0)

    /// Whether an answer to DA1, without its introducer, says that the terminal draws sixels: `?62;4;22c`.
    static func isKnown(by reply: String) -> Bool? {
        guard reply.hasPrefix("?"), reply.hasSuffix("c") else { return nil }
        return reply.dropFirst().dropLast().split(separator: ";").dropFirst().contains("4")
    }

    /// The lines of the screen that must be written again so that pictures go which are no longer wanted.
    func lines(toClearFor pictures: [Picture]) -> [Range<Int>] {
        shown.filter { !pictures.contains($0) }.map { $0.frame.minY..<$0.frame.maxY }
    }

    /// What is to be sent so that `pictures` are on the screen. The cursor stays where it was.
    ///
    /// - Parameters:
    ///   - isDamaged: whether lines of the screen were written since, so that a picture in them is drawn again.
    ///   - cell: how many pixels a cell has.
    mutating func text(toShow pictures: [Picture], isDamaged: (Range<Int>) -> Bool, cell: Size) -> String {
        let missing = pictures.filter { !shown.contains($0) || isDamaged($0.frame.minY..<$0.frame.maxY) }
        shown = pictures
        if self.cell != cell { codes = [:] }
        self.cell = cell
        codes = codes.filter { pictures.contains($0.key) }
        var text = ""
        for picture in missing {
            let code = codes[picture] ?? Self.code(of: picture, cell: cell)
            codes[picture] = code
            if !code.isEmpty { text += "\u{1B}[\(picture.frame.minY + 1);\(picture.frame.minX + 1)H" + code }
        }
        return text.isEmpty ? "" : "\u{1B}7" + text + "\u{1B}8"
    }

    /// Nothing of ours is on the screen any more.
    mutating func forget() { shown = [] }

    // MARK: Encoding

    /// The thresholds of a pattern of 4×4 pixels, from 0 to 15.
    private static let pattern = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]

    /// The picture over its cells; empty where its file cannot be read.
    private static func code(of picture: Picture, cell: Size) -> String {
        guard picture.png.count <= greatestPicture, let image = PNGImage(picture.png) else { return "" }
        return code(of: image, width: picture.frame.width * cell.width, height: picture.frame.height * cell.height)
    }

    /// The image in at most `width`×`height` pixels, in its own proportions.
    static func code(of image: PNGImage, width: Int, height: Int) -> String {
        let scale = min(Double(width) / Double(image.width), Double(height) / Double(image.height))
        let columns = max(1, min(width, Int(Double(image.width) * scale)))
        let rows = max(1, min(height, Int(Double(image.height) * scale)))
        let places = (0..<(columns * rows)).map { place(of: image, $0 % columns, $0 / columns, columns, rows) }
        var text = "\u{1B}P0;1q\"1;1;\(columns);\(rows)"
        for color in Set(places.compactMap(\.self)).sorted() {
            text += "#\(color);2;\(color / 36 * 20);\(color / 6 % 6 * 20);\(color % 6 * 20)"
        }
        for top in stride(from: 0, to: rows, by: 6) {
            let lines = top..<min(rows, top + 6)
            var bits: [Int: [UInt8]] = [:]
            for y in lines {
                for x in 0..<columns {
                    guard let color = places[y * columns + x] else { continue }
                    bits[color, default: Array(repeating: 0, count: columns)][x] |= 1 << UInt8(y - top)
                }
            }
            let passes = bits.sorted { $0.key < $1.key }.map { "#\($0.key)" + repeated($0.value) }
            text += passes.joined(separator: "$") + "-"
        }
        return text + "\u{1B}\\"
    }

    /// The place in the cube of the mean colour of what a pixel of the screen covers; `nil` where that is transparent.
    private static func place(of image: PNGImage, _ x: Int, _ y: Int, _ columns: Int, _ rows: Int) -> Int? {
        func covered(_ index: Int, _ count: Int, _ all: Int) -> StrideTo<Int> {
            let start = index * all / count
            let end = max(start + 1, (index + 1) * all / count)
            // Of large pictures a few pixels of each square say enough.
            return stride(from: start, to: end, by: max(1, (end - start) / 4))
        }
        var sums = (0, 0, 0, 0)
        var count = 0
        for row in covered(y, rows, image.height) {
            for column in covered(x, columns, image.width) {
                let pixel = (row * image.width + column) * 4
                let opacity = Int(image.pixels[pixel + 3])
                sums.0 += Int(image.pixels[pixel]) * opacity
                sums.1 += Int(image.pixels[pixel + 1]) * opacity
                sums.2 += Int(image.pixels[pixel + 2]) * opacity
                sums.3 += opacity
                count += 1
            }
        }
        guard sums.3 * 2 >= count * 255 else { return nil }
        let threshold = pattern[y % 4 * 4 + x % 4]
        func level(_ sum: Int) -> Int { min(5, (sum / sums.3 * 16 + threshold * 51 + 25) / (51 * 16)) }
        return level(sums.0) * 36 + level(sums.1) * 6 + level(sums.2)
    }

    /// Columns as characters, with counts before those that repeat. Empty ones at the end are left out.
    private static func repeated(_ bits: [UInt8]) -> String {
        var result = ""
        var index = 0
        let end = (bits.lastIndex { $0 != 0 } ?? -1) + 1
        while index < end {
            var next = index + 1
            while next < end, bits[next] == bits[index] { next += 1 }
            let character = String(UnicodeScalar(63 + bits[index]))
            let count = next - index
            result += count > 3 ? "!\(count)\(character)" : String(repeating: character, count: count)
            index = next
        }
        return result
    }
}
