import RosterCommands

/// An option of the command line, whatever its value is.
protocol CommandFlag: Sendable {
    /// The long name, without dashes.
    var name: String { get }
    /// The letter of the short form, if there is one.
    var letter: Character? { get }
    /// The name of its value in help; `nil` for a flag without a value.
    var placeholder: String? { get }
    /// True if the value may be missing. A value then follows an equals sign.
    var mayLackValue: Bool { get }
    /// The completions for its value in a shell.
    var completion: WordCompletion { get }
    /// One sentence for help.
    var help: String { get }
}

extension CommandFlag {
    /// True if the next word of the command line is the value.
    var takesNextWord: Bool { placeholder != nil && !mayLackValue }
}

/// An option of the command line with values of one type.
struct Flag<Value>: CommandFlag {
    let name: String
    let letter: Character?
    let placeholder: String?
    let mayLackValue: Bool
    let completion: WordCompletion
    let help: String
    /// Reads a value. The text is empty for a flag without a value.
    ///
    /// - Throws: ``CommandError`` of misuse.
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

/// Possible completions of a word of the command line.
enum WordCompletion: Equatable {
    /// No completions.
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
    /// Key paths with commas between them, each followed by a colon and a direction.
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
                throw CommandError.misuse("--\(name) wants a whole number from 0, not “\(text)”")
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
                throw CommandError.misuse("--\(name) wants a number above 0, not “\(text)”")
            }
            return number
        }
    }
}

extension Flag where Value == [String] {
    /// A flag whose value is `KEYPATH,KEYPATH,…`.
    init(_ name: String, help: String) {
        self.init(name, value: "KEYPATH,…", completion: .keyPaths, help: help) { text in
            let names = text.split(separator: ",", omittingEmptySubsequences: false)
                .map { $0.trimmingPrefix(while: \.isWhitespace) }.map(String.init)
            guard !names.contains("") else {
                throw CommandError.misuse("--\(name) wants KEYPATH,KEYPATH,… not “\(text)”")
            }
            return names
        }
    }
}

/// One of a few words, which the help lists.
extension Flag where Value: CaseIterable & RawRepresentable & SendableMetatype, Value.RawValue == String {
    init(_ name: String, letter: Character? = nil, help: String) {
        let words = Value.allCases.map(\.rawValue)
        let list = words.joined(separator: "|")
        self.init(name, letter: letter, value: list, completion: .words(words), help: help) { text in
            guard let value = Value(rawValue: text) else {
                throw CommandError.misuse("--\(name) is \(list), not “\(text)”")
            }
            return value
        }
    }
}
