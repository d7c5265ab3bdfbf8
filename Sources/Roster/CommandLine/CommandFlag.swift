import RosterCommands

/// A command-line option with a value of any type.
protocol CommandFlag: Sendable {
    /// The long name, without dashes.
    var name: String { get }
    /// The letter of the short form; `nil` if there is none.
    var letter: Character? { get }
    /// The placeholder for the value in help; `nil` for a flag without a value.
    var placeholder: String? { get }
    /// True if the value is optional. If given, it follows an equals sign: `--name=value`.
    var mayLackValue: Bool { get }
    /// The kind of value, for shell completion.
    var completion: WordCompletion { get }
    /// The description in help, one sentence.
    var help: String { get }
}

extension CommandFlag {
    /// True if the next word of the command line is the value.
    var takesNextWord: Bool { placeholder != nil && !mayLackValue }
}

/// A command-line option whose values have one type.
struct Flag<Value>: CommandFlag {
    let name: String
    let letter: Character?
    let placeholder: String?
    let mayLackValue: Bool
    let completion: WordCompletion
    let help: String
    /// Parses a value. The text is empty for a flag without a value.
    ///
    /// - Throws: ``CommandError`` of misuse for an invalid value.
    let read: @Sendable (String) throws -> Value

    init(
        _ name: String, letter: Character? = nil, value placeholder: String?, mayLackValue: Bool = false,
        completion: WordCompletion = .none, help: String, read: @escaping @Sendable (String) throws -> Value
    ) {
        (self.name, self.letter, self.placeholder, self.mayLackValue) = (name, letter, placeholder, mayLackValue)
        (self.completion, self.help, self.read) = (completion, help, read)
    }
}

/// The flags of all verbs.
enum Flags {}

/// The kind of a command-line word, for shell completion.
enum WordCompletion: Equatable {
    /// A word that cannot be completed.
    case none
    case files
    /// SQLite files, and folders.
    case stores
    case words([String])
    case entities
    /// One key path of the entity.
    case keyPath
    /// Key paths, separated by commas.
    case keyPaths
    /// Key paths, separated by commas, each with an optional direction after a colon.
    case sortKeys
    /// Section levels, separated by slashes: a key path, with an optional grouping such as `year` after a colon.
    case sections
    /// The text of a predicate.
    case predicate
    /// `key=value`, where the values are completed from the store.
    case assignment
    /// A record as `Entity:KEY`.
    case object
}

extension Flag where Value == String {
    init(
        _ name: String, letter: Character? = nil, value placeholder: String, mayLackValue: Bool = false,
        completion: WordCompletion = .none, help: String
    ) {
        self.init(
            name, letter: letter, value: placeholder, mayLackValue: mayLackValue, completion: completion, help: help
        ) { $0 }
    }
}

extension Flag where Value == Bool {
    init(_ name: String, letter: Character? = nil, help: String) {
        self.init(name, letter: letter, value: nil, help: help) { _ in true }
    }
}

extension Flag where Value: FixedWidthInteger & SendableMetatype {
    init(_ name: String, value placeholder: String, help: String) {
        self.init(name, value: placeholder, help: help) { text in
            guard let number = Value(text), number >= 0 else {
                throw CommandError.misuse("--\(name) must be a whole number, 0 or greater, not “\(text)”")
            }
            return number
        }
    }
}

extension Flag where Value == Double {
    /// A flag whose value is a number above 0.
    init(_ name: String, value placeholder: String, help: String) {
        self.init(name, value: placeholder, help: help) { text in
            guard let number = Double(text), number > 0, number.isFinite else {
                throw CommandError.misuse("--\(name) must be a number greater than 0, not “\(text)”")
            }
            return number
        }
    }
}

extension Flag where Value == [String] {
    /// A flag whose value is `KEYPATH,KEYPATH,…`.
    init(_ name: String, help: String) {
        self.init(name, value: "KEYPATH,…", completion: .keyPaths, help: help) { text in
            let names = ColumnChoice.names(text)
            guard !names.contains("") else {
                throw CommandError.misuse("--\(name) must be KEYPATH,KEYPATH,…, not “\(text)”")
            }
            return names
        }
    }
}

/// A flag whose value is the raw value of an enumeration's case; help lists all cases.
extension Flag where Value: CaseIterable & RawRepresentable & SendableMetatype, Value.RawValue == String {
    init(_ name: String, letter: Character? = nil, help: String) {
        let words = Value.allCases.map(\.rawValue)
        let list = words.joined(separator: "|")
        self.init(name, letter: letter, value: list, completion: .words(words), help: help) { text in
            guard let value = Value(rawValue: text) else {
                throw CommandError.misuse("--\(name) must be \(list), not “\(text)”")
            }
            return value
        }
    }
}
