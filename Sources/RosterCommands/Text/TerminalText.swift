/// Text on its way to a terminal. All that the program writes to one passes here: what is in the text of a record, a model or a
/// file is never obeyed by the terminal, and the program's own emphasis is put in at the end.
public enum TerminalText {
    /// Marks in text that ``TextStyle`` made, which are no characters of Unicode.
    enum Mark {
        /// Literals of these are no Swift.
        private static func mark(_ value: UInt32) -> Unicode.Scalar {
            Unicode.Scalar(value) ?? Unicode.Scalar(0 as UInt8)
        }

        static let bold = mark(0xFDD0)
        static let dim = mark(0xFDD1)
        static let plain = mark(0xFDD2)
    }

    /// `text` as a terminal may have it: controls, C1 controls and marks of direction are made visible; line ends and tabs stay.
    public static func neutralised(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isSpecial) else { return text }
        var result = String.UnicodeScalarView()
        let scalars = Array(text.unicodeScalars)
        for (place, scalar) in scalars.enumerated() {
            switch scalar {
            case Mark.bold: result.append(contentsOf: "\u{1B}[1m".unicodeScalars)
            case Mark.dim: result.append(contentsOf: "\u{1B}[2m".unicodeScalars)
            case Mark.plain: result.append(contentsOf: "\u{1B}[0m".unicodeScalars)
            case "\n", "\t": result.append(scalar)
            // A line end of CSV; alone it would go back to the beginning of the line.
            case "\r" where place + 1 < scalars.count && scalars[place + 1] == "\n": result.append(scalar)
            default:
                if isSpecial(scalar) {
                    result.append(contentsOf: VisibleText.shown(String(scalar)).unicodeScalars)
                } else {
                    result.append(scalar)
                }
            }
        }
        return String(result)
    }

    private static func isSpecial(_ scalar: Unicode.Scalar) -> Bool {
        VisibleText.isDangerous(scalar) || (0xFDD0...0xFDD2).contains(scalar.value)
    }
}
