import Foundation

/// Pictures as sixels, which xterm, foot, mlterm, Konsole, Windows Terminal and others support: six lines of pixels at
/// a time, one colour after the other.
///
/// Design note. The terminal reports support in its reply to DA1 (attribute 4). It does not accept files, so a PNG is
/// decoded, scaled to its cells and reduced to 216 colours, a cube of 6×6×6, with a dither pattern for the levels
/// between. Writing to a picture's cells removes it.
struct SixelGraphics {
    /// The maximum size in bytes: larger files take too long over a slow connection.
    static let greatestPicture = 2 << 20
    private var shown: [Picture] = []
    /// The encoded pictures for the current cell size, to be sent again when their lines change.
    private var codes: [Picture: String] = [:]
    private var cell = Size(width: 0, height: 0)

    /// True if a reply to DA1, without its introducer, reports sixel support, as `?62;4;22c`; `nil` for other replies.
    static func isKnown(by reply: String) -> Bool? {
        guard reply.hasPrefix("?"), reply.hasSuffix("c") else { return nil }
        return reply.dropFirst().dropLast().split(separator: ";").dropFirst().contains("4")
    }

    /// The lines of the screen to be rewritten in order to remove pictures that are no longer shown.
    func lines(toClearFor pictures: [Picture]) -> [Range<Int>] {
        shown.filter { !pictures.contains($0) }.map { $0.frame.minY..<$0.frame.maxY }
    }

    /// The text to send so that `pictures` are on the screen. Keeps the cursor position.
    ///
    /// - Parameters:
    ///   - isDamaged: True if these lines were rewritten since, so that pictures in them have to be drawn again.
    ///   - cell: The size of a cell in pixels.
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

    /// Resets the state after the screen was cleared.
    mutating func forget() { shown = [] }

    // MARK: Encoding

    /// The thresholds of a dither pattern of 4×4 pixels, from 0 to 15.
    private static let pattern = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]

    /// The picture encoded at the size of its cells; empty if the file cannot be decoded.
    private static func code(of picture: Picture, cell: Size) -> String {
        guard picture.png.count <= greatestPicture, let image = PNGImage(picture.png) else { return "" }
        return code(of: image, width: picture.frame.width * cell.width, height: picture.frame.height * cell.height)
    }

    /// The image in at most `width`×`height` pixels, with its own aspect ratio.
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

    /// The index in the colour cube for a screen pixel, from the mean colour of the image there; `nil` if transparent.
    private static func place(of image: PNGImage, _ x: Int, _ y: Int, _ columns: Int, _ rows: Int) -> Int? {
        func covered(_ index: Int, _ count: Int, _ all: Int) -> StrideTo<Int> {
            let start = index * all / count
            let end = max(start + 1, (index + 1) * all / count)
            // A few pixels per square are enough for large pictures.
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

    /// Encodes columns as characters, with counts for repeated ones. Leaves out empty columns at the end.
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
