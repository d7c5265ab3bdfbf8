import CoreData
import Foundation
import RosterCommands
import TerminalKit

extension Flags {
    /// Makes the terminal program a question: which records?
    static let pick = Flag<String>(
        "pick", value: "KEY", mayLackValue: true, completion: .keyPath,
        help:
            "Print the records chosen with Enter (marked ones, or the one under the cursor), one per line: the URI or the value of "
            + "KEY. In a pipe, too, the screen is shown on the terminal. Exit status 1 if none was chosen.")
}

/// The format of picked records.
struct PickRequest: Equatable {
    /// The attribute to print; `nil` prints the URI.
    let keyPath: String?

    /// True to end each record with a null character instead of a line break.
    let endsWithNull: Bool

    init(_ text: String, endsWithNull: Bool = false) {
        keyPath = text.isEmpty ? nil : text
        self.endsWithNull = endsWithNull
    }

    /// The output for the picked records, one per line. Line breaks in values are replaced by spaces, unless null
    /// characters end the records.
    func output(of texts: [String]) -> String {
        guard !endsWithNull else { return texts.map { $0 + "\0" }.joined() }
        return texts.map { text in String(text.map { $0.isNewline ? " " : $0 }) + "\n" }.joined()
    }

    /// - Throws: ``CommandError`` of kind misuse if the entity does not have the attribute.
    func check(_ entity: NSEntityDescription) throws {
        if let keyPath { try EntityKeys.attribute(at: keyPath, of: entity, for: "print") }
    }

    func text(of object: NSManagedObject) -> String {
        guard let keyPath, let attribute = object.entity.attribute(atKeyPath: keyPath) else {
            return object.objectID.uriRepresentation().absoluteString
        }
        return ValueText.shown(object.value(forKeyPath: keyPath), of: attribute)
    }
}

extension Browser {
    var isPicking: Bool { options.pick != nil }

    /// Ends the program with these records as its result.
    func pick(_ objects: [NSManagedObject]) {
        guard let request = options.pick else { return }
        guard !objects.isEmpty else { return say("no record under the cursor") }
        if request.keyPath == nil, objects.contains(where: { $0.objectID.isTemporaryID }) {
            return say("a new record has no URI until ^S saves it", role: .warning)
        }
        picked = objects.map { request.text(of: $0) }
        quit()
    }

    static let pickHints = [
        ("Enter", "pick"), ("Space", "mark"), ("Esc", "cancel"), ("/", "find"), ("\\", "filter"), ("s", "sort"),
        ("?", "help"),
    ]
}
