/// The result of porting a program: its notes grouped by sentence, and the numbers of files, edits and places.
public struct PortReport: Encodable, Sendable {
    /// A place that a sentence applies to.
    public struct Place: Encodable, Hashable, Sendable {
        /// The path with which the file was added.
        public let path: String
        /// The line of the place, counted from 1.
        public let line: Int
        /// The name at the beginning of the sentence, or an empty string.
        public let subject: String
    }

    /// A sentence with its places.
    public struct Group: Encodable, Sendable {
        /// The rule that found the places.
        public let kind: PortKind
        /// The finding, and what to do; it follows the subject of each place.
        public let sentence: String
        /// True if a person has to do something.
        public let isLeft: Bool
        /// The places of the finding, in the order in which files were added.
        public fileprivate(set) var places: [Place]

        /// Subjects, sentence and places on one line: `initial, short: value(forKey:) …: Note.swift:6, Tag.swift:9`.
        public var line: String {
            var subjects: [String] = []
            for place in places where !place.subject.isEmpty && !subjects.contains(place.subject) {
                subjects.append(place.subject)
            }
            return subjects.joined(separator: ", ") + sentence + ": "
                + places.map { "\($0.path):\($0.line)" }.joined(separator: ", ")
        }
    }

    private struct Key: Hashable {
        let kind: PortKind
        let sentence: String
        let isLeft: Bool
    }

    /// Number of files that porting changes.
    public private(set) var files = 0
    /// Number of edits in all files.
    public private(set) var edits = 0
    /// Groups sorted by kind, then by first place. Groups with something left to do precede the others.
    public var groups: [Group] {
        found.enumerated().sorted { first, second in
            let order = (order(first.element), order(second.element))
            return order.0 == order.1 ? first.offset < second.offset : order.0 < order.1
        }.map(\.element)
    }
    private var found: [Group] = []
    private var indexes: [Key: Int] = [:]

    /// Creates an empty report.
    public init() {}

    /// Adds the edits and notes of a file.
    public mutating func add(_ file: PortedFile, path: String) {
        if !file.edits.isEmpty { files += 1 }
        edits += file.edits.count
        for note in file.notes {
            let place = Place(path: path, line: note.line, subject: note.subject)
            let key = Key(kind: note.kind, sentence: note.sentence, isLeft: note.isLeft)
            if let index = indexes[key] {
                found[index].places.append(place)
            } else {
                indexes[key] = found.count
                found.append(Group(kind: note.kind, sentence: note.sentence, isLeft: note.isLeft, places: [place]))
            }
        }
    }

    private static let order = Dictionary(
        uniqueKeysWithValues: PortKind.allCases.enumerated().map { ($0.element, $0.offset) })

    private func order(_ group: Group) -> Int {
        (group.isLeft ? 0 : PortKind.allCases.count) + (Self.order[group.kind] ?? 0)
    }

    /// Numbers of places where something is left to do, for each kind that has any.
    public var left: [(kind: PortKind, places: Int)] {
        PortKind.allCases.compactMap { kind in
            let places = found.lazy.filter { $0.kind == kind && $0.isLeft }.map(\.places.count).reduce(0, +)
            return places == 0 ? nil : (kind, places)
        }
    }

    /// Number of places where something is left to do; the program exits with 3 if there are any.
    public var placesLeft: Int { left.map(\.places).reduce(0, +) }

    private enum CodingKeys: String, CodingKey { case files, edits, placesLeft, groups }

    /// Encodes the numbers and the groups.
    ///
    /// - Throws: the encoder's errors.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(files, forKey: .files)
        try container.encode(edits, forKey: .edits)
        try container.encode(placesLeft, forKey: .placesLeft)
        try container.encode(groups, forKey: .groups)
    }
}
