/// What is wrong with a model file, and where.
package struct ModelFileError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// There is no such file.
        case missing
        /// The file cannot be read.
        case unreadable
        /// The file is not what its name says, or contradicts itself.
        case malformed
        /// The file has a form that is known but not supported.
        case unsupported
        /// The file cannot be written.
        case unwritable
    }

    package var kind: Kind
    /// The path of the file, as it was given.
    package var file: String
    /// The line, counted from 1, where one is known.
    package var line: Int?
    /// What is wrong, and what to do where that is not obvious: one sentence without a full stop. Whatever it quotes from the
    /// file, it is one line of bounded length.
    package var reason: String

    package init(_ kind: Kind, file: String, line: Int? = nil, _ reason: String) {
        self.kind = kind
        self.file = file
        self.line = line
        self.reason = Self.oneLine(reason)
    }

    /// The text with control characters and line separators taken out, cut where it is very long.
    private static func oneLine(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(600) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: scalars.append("\u{FFFD}")
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    /// `path:line: reason`.
    package var description: String { "\(file):\(line.map { "\($0):" } ?? "") \(reason)" }
}

/// Something in a model file that is not known, or left out.
package struct ModelNote: Equatable, Sendable {
    package var line: Int?
    package var text: String

    package init(line: Int? = nil, _ text: String) {
        self.line = line
        self.text = text
    }

    /// `path:line: text`.
    package func text(in file: String) -> String { "\(file):\(line.map { "\($0):" } ?? "") \(text)" }
}
