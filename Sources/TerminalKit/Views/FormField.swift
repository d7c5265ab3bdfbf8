import Translation

/// One field of a form.
public struct FormField {
    /// The way in which a field is edited.
    public enum Kind: Hashable {
        case text
        case number
        /// One line of text in a certain format, such as a UUID: neither stepped nor edited in another program.
        case line
        case date
        /// Yes, no, and nothing if it is optional. Space cycles through them.
        case boolean
        /// A value chosen elsewhere: Space or a letter calls ``Form/onPick``.
        case reference
        /// One of a few values: Space or a letter calls ``Form/onPick``.
        case choice
        case readOnly

        /// True if the value is typed in the field itself.
        var isTyped: Bool { [.text, .number, .line, .date].contains(self) }
    }

    /// The identity of the field.
    public let id: String
    /// The label of the field.
    public var label: String
    /// The way in which the field is edited.
    public var kind: Kind
    /// True if the field may have no value, which differs from an empty text.
    public var isOptional: Bool
    /// The value as text; `nil` for no value.
    public var value: String?
    /// The error in the value.
    public var error: String?
    /// A description of valid values, shown while the field has the cursor.
    public var hint: String

    /// Creates a field without an error.
    public init(
        id: String, label: String, kind: Kind = .text, value: String? = nil, isOptional: Bool = true, hint: String = ""
    ) {
        self.id = id
        self.label = label
        self.kind = kind
        self.value = value
        self.isOptional = isOptional
        self.hint = tr(hint)
    }
}
