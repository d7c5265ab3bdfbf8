import RosterCommands

/// An option of the command line: a type that holds its name and help and reads its own value.
protocol CommandFlag: Sendable {
    associatedtype Value

    /// The long name, without dashes.
    static var name: String { get }
    /// The letter of the short form, if there is one.
    static var letter: Character? { get }
    /// What its value is called in help; `nil` for a flag that has none.
    static var placeholder: String? { get }
    /// Whether the value may be missing; where it is not, it follows an equals sign.
    static var mayLackValue: Bool { get }
    /// One sentence for help.
    static var help: String { get }
    /// What its value may be, for shells that complete it.
    static var completion: WordCompletion { get }
    /// Reads the value; the text is empty for a flag that has none.
    /// - Throws: ``CommandError`` of misuse.
    static func value(from text: String) throws -> Value
}

extension CommandFlag {
    static var letter: Character? { nil }
    static var placeholder: String? { nil }
    static var mayLackValue: Bool { false }
    static var completion: WordCompletion { .none }

    /// Whether the next word of the command line is the value.
    static var takesNextWord: Bool { placeholder != nil && !mayLackValue }
}

/// What may stand for a word of the command line.
enum WordCompletion: Equatable {
    /// Nothing is known of it.
    case none
    case files
    /// Files that look like stores, and folders on the way to them.
    case stores
    case words([String])
    case entities
    /// One key path of the entity.
    case keyPath
    /// Key paths with commas between them.
    case keyPaths
    /// Key paths with commas between them, each with a direction behind a colon.
    case sortKeys
    /// A key path, and behind a colon what is made of its value.
    case sections
    /// Predicate text.
    case predicate
    /// `key=value`, with the key's values in the store.
    case assignment
    /// A record as `Entity:KEY`.
    case object
}

extension CommandFlag where Value == String {
    static func value(from text: String) throws -> String { text }
}

extension CommandFlag where Value == Bool {
    static func value(from text: String) throws -> Bool { true }
}

extension CommandFlag where Value == Int {
    static func value(from text: String) throws -> Int {
        guard let number = Int(text), number >= 0 else {
            throw CommandError.misuse("--\(name) wants a whole number from 0, not “\(text)”")
        }
        return number
    }
}

/// One of a few words, which stand in the help.
extension CommandFlag where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    static var placeholder: String? { Value.allCases.map(\.rawValue).joined(separator: "|") }
    static var completion: WordCompletion { .words(Value.allCases.map(\.rawValue)) }

    static func value(from text: String) throws -> Value {
        guard let value = Value(rawValue: text) else {
            throw CommandError.misuse("--\(name) is \(placeholder ?? ""), not “\(text)”")
        }
        return value
    }
}
