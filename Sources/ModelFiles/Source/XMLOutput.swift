import Foundation

/// XML text that is built element by element, in the layout of Xcode's files. Unknown parts that a reader kept are
/// written at their old place.
struct XMLOutput {
    private var text = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#
    /// True if the start tag of the last element is not closed yet.
    private var isUnfinished = false
    /// The open elements, outermost first.
    private var levels: [Level] = []

    private struct Level {
        /// The number of children written so far.
        var count = 0
        /// The kept children that are not written yet.
        var kept: ArraySlice<UnknownParts.Element>
    }

    /// Begins an element; attributes without a value are omitted.
    mutating func open(_ name: String, _ attributes: [(String, String?)], _ unknown: UnknownParts = UnknownParts()) {
        if !levels.isEmpty {
            writeKept { $0.position <= $1 }
            levels[levels.count - 1].count += 1
        }
        finishStart()
        text += "\n" + indentation + "<" + name
        var present = attributes.compactMap { key, value in value.map { (key, $0) } }
        for attribute in unknown.attributes where !present.contains(where: { $0.0 == attribute.name }) {
            present.insert((attribute.name, attribute.value), at: min(attribute.position, present.count))
        }
        for (key, value) in present { text += " \(key)=\"\(Self.escaped(value))\"" }
        isUnfinished = true
        levels.append(Level(kept: unknown.elements[...]))
    }

    /// Ends the element; without children it is written as an empty tag.
    mutating func close(_ name: String) {
        writeKept { _, _ in true }
        levels.removeLast()
        if isUnfinished {
            text += "/>"
            isUnfinished = false
        } else {
            text += "\n" + indentation + "</\(name)>"
        }
    }

    mutating func empty(_ name: String, _ attributes: [(String, String?)], _ unknown: UnknownParts = UnknownParts()) {
        open(name, attributes, unknown)
        close(name)
    }

    func finish() -> Data { Data(text.utf8) }

    private var indentation: String { String(repeating: "    ", count: levels.count) }

    /// Writes the next kept children of the innermost element while they are due.
    private mutating func writeKept(while isDue: (UnknownParts.Element, Int) -> Bool) {
        while let level = levels.last, let next = level.kept.first, isDue(next, level.count) {
            finishStart()
            text += "\n" + indentation + next.text
            levels[levels.count - 1].kept.removeFirst()
            levels[levels.count - 1].count += 1
        }
    }

    private mutating func finishStart() {
        if isUnfinished { text += ">" }
        isUnfinished = false
    }

    /// Escapes special characters; characters that XML does not allow are replaced.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\n": result += "&#10;"
            case "\r": result += "&#13;"
            case "\t": result += "&#9;"
            case "\u{0}"..<"\u{20}", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
