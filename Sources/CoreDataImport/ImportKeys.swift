import CoreData
import Foundation

/// The keys in a model's user info that control imports, as in well-known helper libraries.
enum ImportWord {
    static let relatedByAttribute = "relatedByAttribute"
    static let mappedKeyName = "mappedKeyName"
    static let dateFormat = "dateFormat"
    static let useDefaultValueWhenNotPresent = "useDefaultValueWhenNotPresent"
    /// The last number of an alternative key, `mappedKeyName.9`; the first is `mappedKeyName.1`.
    static let lastAlternative = 9

    static func text(_ word: String, in userInfo: [AnyHashable: Any]?) -> String? {
        guard let text = userInfo?[word] as? String, !text.isEmpty else { return nil }
        return text
    }

    static func isSet(_ word: String, in userInfo: [AnyHashable: Any]?) -> Bool {
        switch userInfo?[word] {
        case let text as String: ["yes", "true", "1"].contains(text.lowercased())
        case let number as NSNumber: number.boolValue
        default: false
        }
    }

    /// The key paths of a property in records, in order of precedence; empty if its user info has none.
    static func keyPaths(of property: NSPropertyDescription) -> [String] {
        let words = [mappedKeyName] + (1...lastAlternative).map { "\(mappedKeyName).\($0)" }
        return words.compactMap { text($0, in: property.userInfo) }
    }
}

extension NSEntityDescription {
    /// The attributes whose values identify records of this entity in an import: those listed (separated by commas)
    /// under `relatedByAttribute` in the user info of the entity or an ancestor, or else those of the first uniqueness
    /// constraint. Empty if there are none. An addition to Apple's interface.
    public var importKey: [NSAttributeDescription] {
        var next: NSEntityDescription? = self
        while let current = next {
            if let names = ImportWord.text(ImportWord.relatedByAttribute, in: current.userInfo) {
                let attributes = self.attributes(names)
                if !attributes.isEmpty { return attributes }
            }
            next = current.superentity
        }
        next = self
        while let current = next {
            for constraint in current.uniquenessConstraints {
                let names = constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
                let attributes = names.compactMap { attributesByName[$0] }
                if !attributes.isEmpty, attributes.count == constraint.count { return attributes }
            }
            next = current.superentity
        }
        return []
    }

    fileprivate func attributes(_ names: String) -> [NSAttributeDescription] {
        let names = names.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        let attributes = names.compactMap { attributesByName[$0] }
        return attributes.count == names.count ? attributes : []
    }
}

extension NSRelationshipDescription {
    /// The attributes of the destination whose values identify it in records: those listed under `relatedByAttribute`
    /// in the relationship's user info, or else the destination's ``NSEntityDescription/importKey``. An addition to
    /// Apple's interface.
    public var importKey: [NSAttributeDescription] {
        guard let destinationEntity else { return [] }
        if let names = ImportWord.text(ImportWord.relatedByAttribute, in: userInfo) {
            let attributes = destinationEntity.attributes(names)
            if !attributes.isEmpty { return attributes }
        }
        return destinationEntity.importKey
    }
}
