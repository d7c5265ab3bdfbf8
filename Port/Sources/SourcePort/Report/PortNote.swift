/// A place in a file that a person has to look at.
public struct PortNote: Hashable, Sendable {
    /// The line of the place, counted from 1.
    public let line: Int
    /// The rule that found the place.
    public let kind: PortKind
    /// The name at the beginning of the message; empty if the message is the same at all its places.
    public let subject: String
    /// The rest of the message.
    public let sentence: String
    /// True if a person has to do something; false if porting did everything.
    public let isLeft: Bool

    /// The finding, and what to do.
    public var message: String { subject + sentence }
}

/// The kinds of notes, one for each rule.
public enum PortKind: String, Codable, CaseIterable, Sendable {
    case unreadFile = "unread files"
    case excludedFile = "excluded files"
    case framework = "frameworks"
    case attribute = "attributes"
    case objectiveC = "Objective-C"
    case initializer = "initialisers"
    case override = "overrides"
    case keyPath = "key paths"
    case selector = "selectors"
    case request = "requests"
    case set = "sets"
    case cloud = "iCloud"
    case className = "class names"
    case bundle = "bundles"
    case spelling = "spellings"
    case call = "calls"
    case observation = "observation"
    case importing = "imports"
}
