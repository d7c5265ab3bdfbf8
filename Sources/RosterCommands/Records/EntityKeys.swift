import CoreData
import Foundation
import Translation

/// Checks keys and key paths against an entity, with messages that list the valid ones.
package enum EntityKeys {
    /// The property at the end of `keyPath`, which may contain to-one relationships only.
    /// - Throws: ``CommandError`` of misuse.
    static func property(at keyPath: String, of entity: NSEntityDescription) throws -> NSPropertyDescription {
        var current = entity
        let keys = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        for (index, key) in keys.enumerated() {
            guard let property = current.propertiesByName[key] else {
                throw CommandError.misuse(text: unknown(key, of: current))
            }
            if index == keys.count - 1 { return property }
            guard let relationship = property as? NSRelationshipDescription, !relationship.isToMany,
                let destination = relationship.destinationEntity
            else {
                throw CommandError.misuse(
                    "invalid key path “\(keyPath)”: only a to-one relationship can precede a dot, and \(key) is not one"
                )
            }
            current = destination
        }
        throw CommandError.misuse("a key is empty: write KEY,KEY,…")
    }

    /// The attribute at the end of `keyPath`.
    /// - Throws: ``CommandError`` of misuse.
    @discardableResult
    package static func attribute(
        at keyPath: String, of entity: NSEntityDescription, for purpose: String
    ) throws -> NSAttributeDescription {
        guard let attribute = try property(at: keyPath, of: entity) as? NSAttributeDescription else {
            let refusal = "cannot " + purpose
            throw CommandError.misuse(
                "\(tr(refusal)) “\(keyPath)”: it is a relationship. Add an attribute, such as \(keyPath).name")
        }
        return attribute
    }

    /// The message for an unknown key: `Team has no property “winz”; its properties: bestFinish, draws, …`
    package static func unknown(_ key: String, of entity: NSEntityDescription) -> String {
        let names = entity.propertiesByName.keys.sorted()
        let near = names.first { $0.lowercased() == key.lowercased() }
        let hint = near.map { sentence("did you mean \($0)?") } ?? known(names, near: key)
        return sentence("\(entity.name ?? "?") has no property “\(key)”; \(hint)")
    }

    /// Greatest number of names in a message.
    private static let greatestCount = 24

    /// `its properties: bestFinish, draws, …`. If there are too many, only those similar to the key, or the first ones.
    private static func known(_ names: [String], near key: String) -> String {
        guard names.count > greatestCount else { return sentence("its properties: \(names.joined(separator: ", "))") }
        let key = key.lowercased()
        let alike = names.filter { !key.isEmpty && ($0.lowercased().contains(key) || key.contains($0.lowercased())) }
        let shown = (alike.isEmpty ? names : alike).prefix(8)
        return sentence("its properties: \(shown.joined(separator: ", ")) and \(names.count - shown.count) more")
    }
}
