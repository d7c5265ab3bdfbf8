import Foundation
import PredicateSyntax

/// The right side of IN, prepared for one lookup per value.
struct ValueSet {
    /// A value whose hash and equality match those of ``ValueOrder``.
    private enum Key: Hashable {
        case null
        case integer(Int64)
        case real(Double)
        case bytes([UInt8])
        case data(Data)
        case uuid(UUID)
        case id(NSManagedObjectID)
    }

    private var keys: Set<Key> = []
    /// Members that cannot be represented by a ``Key``; they are compared one by one.
    private var others: [PredicateValue] = []
    private let options: ComparisonOptions

    init(_ values: [PredicateValue], options: ComparisonOptions) {
        self.options = options
        for value in values { insert(value) }
    }

    func contains(_ value: PredicateValue) -> Bool {
        guard let key = key(of: value) else {
            return others.contains { ValueOrder.areEqual($0, value, options) }
        }
        return keys.contains(key)
    }

    /// Adds a value to the set.
    ///
    /// - Returns: True if the value was inserted, false if already present.
    @discardableResult
    mutating func insert(_ value: PredicateValue) -> Bool {
        if let key = key(of: value) { return keys.insert(key).inserted }
        if contains(value) { return false }
        others.append(value)
        return true
    }

    private func key(of value: PredicateValue) -> Key? {
        switch value {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number), .date(let number): Self.key(of: number)
        case .decimal(let decimal): Self.key(of: decimal)
        case .text(let text): .bytes(TextFolding.bytes(of: text, options))
        case .data(let data): .data(data)
        case .uuid(let uuid): .uuid(uuid)
        case .object(let row): .id(row.objectID)
        case .reference(let id): .id(id)
        case .collection(let elements) where elements.isEmpty: .null
        case .entity, .collection, .other: nil
        }
    }

    /// The key of a real number: an integer key if the number is whole.
    private static func key(of number: Double) -> Key {
        Int64(exactly: number).map { .integer($0) } ?? .real(number)
    }

    private static func key(of decimal: Decimal) -> Key {
        switch Number(decimal) {
        case .integer(let number): .integer(number)
        case .real(let number): key(of: number)
        }
    }
}
