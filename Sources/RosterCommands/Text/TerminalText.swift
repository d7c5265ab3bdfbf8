/// Prepares all text that the program writes to a terminal. Control characters in records, models and files are made
/// visible, so that the terminal does not obey them; then the program's own emphasis is added.
public enum TerminalText {
    /// Marks that ``TextStyle`` adds. They are noncharacters of Unicode.
    enum Mark {
        /// Returns the noncharacter with a code point. Swift does not allow literals of noncharacters.
        private static func mark(_ value: UInt32) -> Unicode.Scalar {
            Unicode.Scalar(value) ?? Unicode.Scalar(0 as UInt8)
        }

        static let bold = mark(0xFDD0)
        static let dim = mark(0xFDD1)
        static let plain = mark(0xFDD2)
    }

    /// Returns `text` with controls, C1 controls and direction marks made visible; line ends and tabs are kept.
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
            // A line end of CSV. A carriage return alone would overwrite the line.
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
