/// Invalid field of a record: key, value and reason.
struct FieldProblem: Error {
    let key: String
    let value: JSONValue?
    let reason: String
    var isMalformed = false

    /// The problem as text: `wins: “abc” is not a whole number`
    var sentence: String {
        guard let value else { return "\(key): \(reason)" }
        let text =
            switch value {
            case .string(let text): "“\(Self.shortened(text))”"
            default: Self.shortened(value.text)
            }
        return "\(key): \(text) \(reason)"
    }

    private static func shortened(_ text: String) -> String {
        text.count > 60 ? text.prefix(59) + "…" : text
    }
}
