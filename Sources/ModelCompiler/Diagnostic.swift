/// Something to say about a place in a model, in the form that builds show: `file:line: error: text`.
package struct Diagnostic: Equatable, Sendable, CustomStringConvertible {
    package enum Severity: String, Sendable {
        case error
        case warning
    }

    package var severity: Severity
    package var file: String
    /// The line, counted from 1, where one is known.
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

/// Why no classes can be made of a model: at least one error.
package struct GenerationFailure: Error, CustomStringConvertible {
    package var diagnostics: [Diagnostic]

    package var description: String { diagnostics.map(\.description).joined(separator: "\n") }
}
