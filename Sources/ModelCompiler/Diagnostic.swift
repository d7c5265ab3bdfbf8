/// A message about a place in a model, in the form that builds display: `file:line: error: text`.
package struct Diagnostic: Equatable, Sendable, CustomStringConvertible {
    package enum Severity: String, Sendable {
        case error
        case warning
    }

    package var severity: Severity
    package var file: String
    /// The line, counted from 1, if known.
    package var line: Int?
    package var text: String

    package init(_ severity: Severity, file: String, line: Int? = nil, _ text: String) {
        self.severity = severity
        self.file = file
        self.line = line
        self.text = text
    }

    package var description: String { "\(file):\(line.map { "\($0):" } ?? "") \(severity.rawValue): \(text)" }
}

/// The reasons why no classes can be generated: at least one error.
package struct GenerationFailure: Error, CustomStringConvertible {
    package var diagnostics: [Diagnostic]

    package var description: String { diagnostics.map(\.description).joined(separator: "\n") }
}
