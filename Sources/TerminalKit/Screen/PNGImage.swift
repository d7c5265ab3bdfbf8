import CZlib
import Foundation

/// The decoded pixels of a PNG file, for terminals that do not accept files.
///
/// Design note. zlib decompresses; this type decodes chunks, filters and Adam7. A damaged file, or one too large for a
/// screen, is not read. Checksums of chunks are not verified: a wrong pixel is harmless.
struct PNGImage {
    let width: Int
    let height: Int
    /// Red, green, blue and opacity of each pixel, line by line.
    let pixels: [UInt8]

    /// The maximum number of pixels.
    private static let greatest = 8 << 20

    /// The contents of the first chunk.
    private struct Header {
        let width: Int
        let height: Int
        let depth: Int
        let colorType: UInt8
        let isInterlaced: Bool

        init?(_ bytes: ArraySlice<UInt8>) {
            guard bytes.count == 13 else { return nil }
            let all = Array(bytes)
            width = PNGImage.number(all[0..<4])
            height = PNGImage.number(all[4..<8])
            depth = Int(all[8])
            colorType = all[9]
            isInterlaced = all[12] == 1
            guard width > 0, height > 0, width <= 1 << 15, height <= 1 << 15, width * height <= PNGImage.greatest,
                all[10] == 0, all[11] == 0, all[12] <= 1
            else { return nil }
            switch colorType {
            case 0: guard [1, 2, 4, 8, 16].contains(depth) else { return nil }
            case 3: guard [1, 2, 4, 8].contains(depth) else { return nil }
            case 2, 4, 6: guard [8, 16].contains(depth) else { return nil }
            default: return nil
            }
        }

        /// The number of samples per pixel.
        var channels: Int {
            switch colorType {
            case 2: 3
            case 4: 2
            case 6: 4
            default: 1
            }
        }

        /// The first column and line of each pass, and the distances between its pixels.
        var passes: [(x: Int, y: Int, dx: Int, dy: Int)] {
            isInterlaced
                ? [
                    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
                ] : [(0, 0, 1, 1)]
        }

        func bytesPerLine(_ columns: Int) -> Int { (columns * channels * depth + 7) / 8 }
    }

    /// Decodes a file; `nil` if it is damaged, too large or not a PNG.
    init?(_ file: Data) {
        let bytes = [UInt8](file)
        guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else { return nil }
        var header: Header?
        var palette: ArraySlice<UInt8> = []
        var opacities: ArraySlice<UInt8> = []
        var packed: [UInt8] = []
        var place = 8
        while place + 12 <= bytes.count {
            let length = Self.number(bytes[place..<(place + 4)])
            guard length <= bytes.count - place - 12 else { break }
            let body = bytes[(place + 8)..<(place + 8 + length)]
            switch String(decoding: bytes[(place + 4)..<(place + 8)], as: UTF8.self) {
            case "IHDR": header = Header(body)
            case "PLTE": palette = body
            case "tRNS": opacities = body
            case "IDAT": packed += body
            default: break
            }
            place += 12 + length
        }
        guard let header, let lines = Self.inflated(packed, header) else { return nil }
        width = header.width
        height = header.height
        pixels = Self.pixels(lines, header, palette: Array(palette), opacities: Array(opacities))
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    private static func columns(_ pass: (x: Int, y: Int, dx: Int, dy: Int), _ header: Header) -> (Int, Int) {
        (
            max(0, (header.width - pass.x + pass.dx - 1) / pass.dx),
            max(0, (header.height - pass.y + pass.dy - 1) / pass.dy)
        )
    }

    /// The decompressed lines of all passes, each after the number of its filter.
    private static func inflated(_ packed: [UInt8], _ header: Header) -> [UInt8]? {
        var count = 0
        for pass in header.passes {
            let (columns, lines) = columns(pass, header)
            if columns > 0 { count += lines * (1 + header.bytesPerLine(columns)) }
        }
        var result = [UInt8](repeating: 0, count: count)
        var length = uLongf(count)
        let code = uncompress(&result, &length, packed, uLong(packed.count))
        return code == Z_OK && length == uLongf(count) ? result : nil
    }

    private static func pixels(
        _ lines: [UInt8], _ header: Header, palette: [UInt8], opacities: [UInt8]
    ) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: header.width * header.height * 4)
        var place = 0
        for pass in header.passes {
            let (columns, rows) = columns(pass, header)
            guard columns > 0 else { continue }
            let length = header.bytesPerLine(columns)
            let step = max(1, header.channels * header.depth / 8)
            var above = [UInt8](repeating: 0, count: length)
            for row in 0..<rows {
                var line = Array(lines[(place + 1)..<(place + 1 + length)])
                undo(filter: lines[place], of: &line, above: above, step: step)
                place += 1 + length
                above = line
                for column in 0..<columns {
                    let target = ((pass.y + row * pass.dy) * header.width + pass.x + column * pass.dx) * 4
                    let color = color(at: column, of: line, header, palette, opacities)
                    result[target] = color.0
                    result[target + 1] = color.1
                    result[target + 2] = color.2
                    result[target + 3] = color.3
                }
            }
        }
        return result
    }

    /// Reverses the filter of a line, which encodes differences from the previous pixel and the line above.
    private static func undo(filter: UInt8, of line: inout [UInt8], above: [UInt8], step: Int) {
        guard filter != 0 else { return }
        for index in line.indices {
            let left = index >= step ? Int(line[index - step]) : 0
            let up = Int(above[index])
            let difference: Int
            switch filter {
            case 1: difference = left
            case 2: difference = up
            case 3: difference = (left + up) / 2
            default:
                let corner = index >= step ? Int(above[index - step]) : 0
                let guess = left + up - corner
                let (a, b, c) = (abs(guess - left), abs(guess - up), abs(guess - corner))
                difference = a <= b && a <= c ? left : b <= c ? up : corner
            }
            line[index] &+= UInt8(truncatingIfNeeded: difference)
        }
    }

    private static func color(
        at column: Int, of line: [UInt8], _ header: Header, _ palette: [UInt8], _ opacities: [UInt8]
    ) -> (UInt8, UInt8, UInt8, UInt8) {
        func sample(_ channel: Int) -> UInt8 {
            let index = column * header.channels + channel
            switch header.depth {
            case 8: return line[index]
            case 16: return line[index * 2]
            default:
                let bit = index * header.depth
                let value = Int(line[bit / 8]) >> (8 - header.depth - bit % 8) & (1 << header.depth - 1)
                return header.colorType == 3 ? UInt8(value) : UInt8(value * 255 / (1 << header.depth - 1))
            }
        }
        switch header.colorType {
        case 0: return (sample(0), sample(0), sample(0), 255)
        case 4: return (sample(0), sample(0), sample(0), sample(1))
        case 2: return (sample(0), sample(1), sample(2), 255)
        case 6: return (sample(0), sample(1), sample(2), sample(3))
        default:
            let entry = Int(sample(0))
            guard entry * 3 + 2 < palette.count else { return (0, 0, 0, 255) }
            let opacity = entry < opacities.count ? opacities[entry] : 255
            return (palette[entry * 3], palette[entry * 3 + 1], palette[entry * 3 + 2], opacity)
        }
    }
}
