import CoreData

/// Numbers as people write them: `1 234,5`, `1,234,567`, `1.234,56`, `1'234`, ` 42 `.
enum GroupedDigits {
    /// The number with a point and without separators of thousands; `text` if it is no such number.
    ///
    /// - Throws: ``ImportProblem`` if its only separator may be that of thousands or of decimals: `1,234`.
    static func plain(_ text: String) throws -> String {
        guard
            text.utf8.contains(where: { !"+-.eE0123456789".utf8.contains($0) })
                || text.utf8.count(where: { $0 == 0x2E }) > 1
        else {
            return text
        }
        var digits = text.trimmingPrefix(while: isSpace)
        while let last = digits.last, isSpace(last) { digits.removeLast() }
        let sign = digits.first.map { "-\u{2212}".contains($0) ? "-" : "" } ?? ""
        if let first = digits.first, "+-\u{2212}".contains(first) { digits.removeFirst() }
        let signs = digits.compactMap { mark($0) }
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber || mark($0) != nil }), digits.first?.isNumber == true,
            digits.last?.isNumber == true
        else { return text }
        guard let last = signs.last else { return sign + digits }
        let others = Set(signs.dropLast())
        // Of several separators, the last one is that of decimals if it is another one.
        if ",.".contains(last), !others.contains(last), others.count <= 1 {
            let place = digits.lastIndex { mark($0) == last } ?? digits.startIndex
            let (whole, fraction) = (digits[..<place], digits[digits.index(after: place)...])
            let mayBeThousands = fraction.count == 3 && whole.count <= 3 && whole != "0"
            if others.isEmpty, mayBeThousands, last == "," {
                throw ImportProblem(
                    reason:
                        "may be \(sign)\(whole)\(fraction) or \(sign)\(whole).\(fraction): write it without the comma")
            }
            return grouped(whole).map { "\(sign)\($0).\(fraction)" } ?? text
        }
        guard others.isSubset(of: [last]) else { return text }
        return grouped(digits).map { sign + $0 } ?? text
    }

    /// The digits of a number with groups of three, or without groups; `nil` if they are not groups of three.
    private static func grouped(_ text: Substring) -> String? {
        let groups = text.split(omittingEmptySubsequences: false) { mark($0) != nil }
        guard groups.count > 1 else { return String(text) }
        guard groups.dropFirst().allSatisfy({ $0.count == 3 }), (1...3).contains(groups[0].count) else { return nil }
        return groups.joined()
    }

    /// The separator that a character is; all spaces and all apostrophes are the same one.
    private static func mark(_ character: Character) -> Character? {
        switch character {
        case ",", ".": character
        case "'", "\u{2019}": "'"
        case " ", "\u{A0}", "\u{2007}", "\u{2009}", "\u{202F}": " "
        default: nil
        }
    }

    private static func isSpace(_ character: Character) -> Bool { character.isWhitespace }
}

extension NSAttributeDescription {
    fileprivate func isOne(of types: [NSAttributeType]) -> Bool { types.contains(attributeType) }

    var isNumber: Bool {
        isOne(of: [
            .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType, .decimalAttributeType,
        ])
    }
}
