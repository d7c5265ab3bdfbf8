import Foundation

/// XML text that grows element by element, in the layout of Xcode's files. What a reader kept without knowing it comes in
/// where it stood.
struct XMLOutput {
    private var text = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#
    /// Whether the last element's start tag still lacks its end.
    private var isUnfinished = false
    /// The elements that are open, outermost first.
    private var levels: [Level] = []

    private struct Level {
        /// How many children are written.
        var count = 0
        /// The children that are still to come in.
        var kept: ArraySlice<UnknownParts.Element>
    }

    /// Starts an element; attributes without a value are left out.
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

    /// Ends the element; one without children is written as an empty tag.
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

    /// Writes the next kept children of the innermost element, as long as they are due.
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

    /// Characters that XML does not allow at all are replaced.
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
