/// An error in a model file, with its place.
package struct ModelFileError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// The file does not exist.
        case missing
        /// The file cannot be read.
        case unreadable
        /// The file does not have the format of its extension, or is inconsistent.
        case malformed
        /// The file has a known form that is not supported.
        case unsupported
        /// The file cannot be written.
        case unwritable
    }

    package var kind: Kind
    /// The path of the file, as it was passed.
    package var file: String
    /// The line, counted from 1, if known.
    package var line: Int?
    /// The problem, and the remedy if that is not obvious: one sentence without a full stop. Text quoted from the file
    /// is reduced to one line of bounded length.
    package var reason: String

    package init(_ kind: Kind, file: String, line: Int? = nil, _ reason: String) {
        self.kind = kind
        self.file = file
        self.line = line
        self.reason = Self.oneLine(reason)
    }

    /// The text without control characters and line separators, truncated if it is very long.
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

/// A note on an unknown or omitted part of a model file.
package struct ModelNote: Equatable, Sendable {
    package var line: Int?
    package var text: String

    package init(line: Int? = nil, _ text: String) {
        self.line = line
        self.text = text
    }

    /// The message with its place: `path:line: text`.
    package func text(in file: String) -> String { "\(file):\(line.map { "\($0):" } ?? "") \(text)" }
}
