import Foundation

/// A position in the histories of some stores: all transactions up to it have been read.
///
/// Opaque and immutable, safe on any thread. Archive it with `NSKeyedArchiver` to continue from there at the next
/// launch.
public final class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, Sendable {
    /// Store UUID → number of the last transaction read.
    let numbers: [String: Int64]

    init(numbers: [String: Int64]) {
        self.numbers = numbers
    }

    /// The number of the last transaction read from the store with that UUID; 0 if none.
    func number(ofStore identifier: String?) -> Int64 { identifier.flatMap { numbers[$0] } ?? 0 }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPersistentHistoryToken)?.numbers == numbers
    }

    public override var hash: Int { numbers.hashValue }

    public override var description: String {
        "<NSPersistentHistoryToken> "
            + numbers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }

    // MARK: Archiving

    /// Always `true`.
    public static var supportsSecureCoding: Bool { true }

    private static let storesKey = "stores"
    private static let numbersKey = "numbers"

    public init?(coder: NSCoder) {
        let strings = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: Self.storesKey) as? [String]
        let counts = coder.decodeObject(of: [NSArray.self, NSNumber.self], forKey: Self.numbersKey) as? [NSNumber]
        guard let strings, let counts, strings.count == counts.count else { return nil }
        numbers = Dictionary(zip(strings, counts.map(\.int64Value)), uniquingKeysWith: { max($0, $1) })
    }

    public func encode(with coder: NSCoder) {
        let ordered = numbers.sorted { $0.key < $1.key }
        coder.encode(NSArray(array: ordered.map { NSString(string: $0.key) }), forKey: Self.storesKey)
        coder.encode(NSArray(array: ordered.map { NSNumber(value: $0.value) }), forKey: Self.numbersKey)
    }
}
