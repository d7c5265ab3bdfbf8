import Foundation

/// The contents of a keyed archive as a text: the names of its classes with their plain values, `UIColor(red: 0.5,
/// name: "sky")`.
///
/// Does not need the classes. Deep nesting and very long texts are truncated.
package struct ArchiveOutline {
    private let archive: KeyedArchive
    private var room: Int

    private static let deepest = 8

    /// The text of an archive; `nil` for other data.
    ///
    /// - Parameter limit: the approximate maximum number of characters.
    package static func text(of data: Data, limit: Int = 2000) -> String? {
        guard let archive = try? KeyedArchive(data) else { return nil }
        var outline = ArchiveOutline(archive: archive, room: limit)
        return outline.text(archive.root, depth: 0)
    }

    private mutating func text(_ value: PropertyListValue?, depth: Int) -> String {
        guard depth <= Self.deepest, room > 0 else { return "…" }
        let text = parts(value, depth)
        room -= 8
        return text
    }

    private mutating func parts(_ value: PropertyListValue?, _ depth: Int) -> String {
        switch archive.resolve(value) {
        case nil: return "nil"
        case .string(let text): return quoted(text)
        case .integer(let number): return "\(number)"
        case .real(let number): return "\(number)"
        case .boolean(let flag): return "\(flag)"
        case .date(let seconds): return "\(Date(timeIntervalSinceReferenceDate: seconds))"
        case .data(let data): return "\(data.count) bytes"
        case .array(let elements): return list(elements, depth)
        case .reference: return "…"
        case .dictionary(let fields):
            guard let object = archive.object(value) else { return named(fields, depth) }
            return instance(object, value, depth)
        }
    }

    private mutating func instance(_ object: KeyedArchive.Object, _ value: PropertyListValue?, _ depth: Int) -> String {
        if let text = archive.text(value) { return quoted(text) }
        if let entries = archive.entries(value) {
            var parts: [String] = []
            for (key, value) in entries where room > 0 {
                parts.append("\(text(key, depth: depth + 1)): \(text(value, depth: depth + 1))")
            }
            return "[\(parts.isEmpty ? ":" : parts.joined(separator: ", "))]"
        }
        if let elements = archive.elements(value) { return list(elements, depth) }
        if object.className == "NSDate", case .real(let seconds)? = archive.resolve(object.fields["NS.time"]) {
            return "\(Date(timeIntervalSinceReferenceDate: seconds))"
        }
        return object.className + "(" + named(object.fields, depth) + ")"
    }

    private mutating func named(_ fields: [String: PropertyListValue], _ depth: Int) -> String {
        var parts: [String] = []
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) where !name.hasPrefix("$") && room > 0 {
            parts.append("\(name): \(text(value, depth: depth + 1))")
        }
        return parts.joined(separator: ", ")
    }

    private mutating func list(_ elements: [PropertyListValue], _ depth: Int) -> String {
        var parts: [String] = []
        for element in elements {
            guard room > 0 else {
                parts.append("…")
                break
            }
            parts.append(text(element, depth: depth + 1))
        }
        return "[\(parts.joined(separator: ", "))]"
    }

    private mutating func quoted(_ text: String) -> String {
        let shown = text.count > max(room, 16) ? text.prefix(max(room, 16)) + "…" : text[...]
        room -= shown.count
        return "\"\(shown)\""
    }
}
