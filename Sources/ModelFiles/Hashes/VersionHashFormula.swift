import Foundation

/// The formula of the hashes that match a store with its model: the same as in Apple's files, byte for byte.
///
/// It includes everything that a property's column depends on. Class names, default values, validation, delete rules
/// and indexes are not part of it: changing them needs no migration.
package enum VersionHashFormula {
    /// The part that the hashes of all kinds of property begin with.
    package struct Property {
        let name: String
        let isOptional: Bool
        let modifier: String?

        package init(name: String, isOptional: Bool, modifier: String?) {
            self.name = name
            self.isOptional = isOptional
            self.modifier = modifier
        }

        /// The 32 bytes of these values in the hash of the property.
        var hash: [UInt8] {
            var hash = SHA256()
            hash.update(Array(name.utf8))
            hash.update([isOptional ? 1 : 0, 0])
            hash.update(Array((modifier ?? "").utf8))
            return hash.finalize()
        }
    }

    /// The 32 bytes of a property that is neither attribute nor relationship.
    package static func other(_ property: Property) -> Data {
        var hash = SHA256()
        hash.update(property.hash)
        return Data(hash.finalize())
    }

    /// The 32 bytes of an attribute.
    ///
    /// - Parameter addition: The derivation of a derived attribute; empty for others. Apple's form is unknown, this one
    ///   is ours (``derivation(_:)``). Earlier versions hashed composite attributes in this way too (``elements(_:)``).
    package static func attribute(
        _ property: Property, type: UInt, isExternal: Bool, isPreserved: Bool, addition: [UInt8]
    ) -> Data {
        var hash = SHA256()
        hash.update(property.hash)
        hash.update(littleEndian(Int(clamping: type)))
        if isExternal { hash.update([1]) }
        if isPreserved { hash.update([1]) }
        hash.update(addition)
        return Data(hash.finalize())
    }

    /// The bytes that the derivation, as a format string, adds to the hash of a derived attribute.
    package static func derivation(_ format: String) -> [UInt8] { Array("derived:\(format)".utf8) }

    /// The 32 bytes of a composite attribute: only its elements. Its name and its optionality are not part of it.
    ///
    /// - Parameter modifier: Appended. Apple's form of it is unknown.
    package static func composite(_ elements: [(name: String, hash: Data)], modifier: String?) -> Data {
        var hash = SHA256()
        hash.update(Self.elements(elements))
        hash.update(Array((modifier ?? "").utf8))
        return Data(hash.finalize())
    }

    /// The hashes of a composite's elements, by name.
    package static func elements(_ elements: [(name: String, hash: Data)]) -> [UInt8] {
        elements.sorted { precedes($0.name, $1.name) }.flatMap { [UInt8]($0.hash) }
    }

    /// The 32 bytes of a relationship.
    ///
    /// - Parameter inverse: The name of the inverse; `nil` if there is none or the relationship is its own inverse.
    package static func relationship(
        _ property: Property, destination: String, inverse: String?, maxCount: Int, minCount: Int, isOrdered: Bool
    ) -> Data {
        var hash = SHA256()
        hash.update(property.hash)
        hash.update(Array(destination.utf8))
        hash.update(Array((inverse ?? "").utf8))
        hash.update(littleEndian(maxCount))
        hash.update(littleEndian(minCount))
        if isOrdered { hash.update([1, 0]) }
        return Data(hash.finalize())
    }

    /// The 32 bytes of an entity.
    ///
    /// - Parameters:
    ///   - parent: The hash of the parent entity.
    ///   - properties: The hashes of all stored properties, including inherited ones.
    package static func entity(
        name: String, isAbstract: Bool, parent: Data?, properties: [(name: String, hash: Data)], modifier: String?,
        constraints: [[String]]
    ) -> Data {
        var hash = SHA256()
        hash.update(Array(name.utf8))
        hash.update([isAbstract ? 1 : 0])
        if let parent { hash.update([UInt8](parent)) }
        for (_, value) in properties.sorted(by: { precedes($0.name, $1.name) }) { hash.update([UInt8](value)) }
        hash.update(Array((modifier ?? "").utf8))
        let texts = constraints.map { $0.joined(separator: ".") }
        hash.update(Array(texts.sorted(by: precedes).joined().utf8))
        return Data(hash.finalize())
    }

    /// Base 64 of one hash of all hashes: `NSStoreModelVersionChecksumKey` in a store's metadata, and the checksum of a
    /// version in `VersionInfo.plist`.
    package static func checksum(_ hashes: [String: Data]) -> String {
        var hash = SHA256()
        for (_, value) in sorted(hashes) { hash.update([UInt8](value)) }
        return Data(hash.finalize()).base64EncodedString()
    }

    /// Base 64 of one hash of all names and hashes: `NSStoreModelVersionHashesDigest` in a store's metadata.
    package static func digest(_ hashes: [String: Data]) -> String {
        var hash = SHA512()
        for (name, value) in sorted(hashes) {
            hash.update(Array(name.utf8))
            hash.update([UInt8](value))
        }
        return Data(hash.finalize()).base64EncodedString()
    }

    private static func sorted(_ hashes: [String: Data]) -> [(key: String, value: Data)] {
        hashes.sorted { precedes($0.key, $1.key) }
    }

    /// The order of names by their bytes.
    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    private static func littleEndian(_ number: Int) -> [UInt8] { Int32(truncatingIfNeeded: number).littleEndianBytes }
}
