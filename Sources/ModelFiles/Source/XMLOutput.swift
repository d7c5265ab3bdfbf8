import Foundation

/// XML text that grows element by element, in the layout of Xcode's files.
struct XMLOutput {
    private var text = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#
    private var depth = 0
    /// Whether the last element's start tag still lacks its end.
    private var isUnfinished = false

    /// Starts an element; attributes without a value are left out.
    mutating func open(_ name: String, _ attributes: [(String, String?)]) {
        finishStart()
        text += "\n" + String(repeating: "    ", count: depth) + "<" + name
        for case (let key, let value?) in attributes { text += " \(key)=\"\(Self.escaped(value))\"" }
        isUnfinished = true
        depth += 1
    }

    /// Ends the element; one without children is written as an empty tag.
    mutating func close(_ name: String) {
        depth -= 1
        if isUnfinished {
            text += "/>"
            isUnfinished = false
        } else {
            text += "\n" + String(repeating: "    ", count: depth) + "</\(name)>"
        }
    }

    mutating func empty(_ name: String, _ attributes: [(String, String?)]) {
        open(name, attributes)
        close(name)
    }

    func finish() -> Data { Data(text.utf8) }

    private mutating func finishStart() {
        if isUnfinished { text += ">" }
        isUnfinished = false
    }

    /// Characters that XML does not allow at all are replaced.
    private static func escaped(_ text: String) -> String {
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
