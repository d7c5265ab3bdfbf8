import Foundation

/// Adds keys to `NSSortDescriptor`.
///
/// Foundation on Linux sorts only by Swift key paths. As for predicates, a protocol's initialiser returns an instance
/// of a subclass with a key.
///
/// The initialisers may be called on any thread. The descriptors are immutable, and safe on any thread if their
/// comparators are.
public protocol SortKeyInitializable {}

extension NSSortDescriptor: SortKeyInitializable {}

/// The comparison of a sort descriptor's values: Apple's comparison selectors by name. A value, safe on any thread.
public struct SortSelector: Hashable, Sendable, ExpressibleByStringLiteral {
    let comparison: StoreSortKey.Comparison

    /// `compare:`: numbers and dates by value, texts by code points.
    public static let compare = SortSelector(comparison: .plain)
    /// `caseInsensitiveCompare:`: texts, ignoring case.
    public static let caseInsensitiveCompare = SortSelector(comparison: .caseInsensitive)
    /// `localizedCompare:`: texts by the rules of the current locale.
    public static let localizedCompare = SortSelector(comparison: .localized)
    /// `localizedCaseInsensitiveCompare:`: texts by the rules of the current locale, ignoring case.
    public static let localizedCaseInsensitiveCompare = SortSelector(comparison: .localizedCaseInsensitive)
    /// `localizedStandardCompare:`: texts as in file lists, with numbers in them by value.
    public static let localizedStandardCompare = SortSelector(comparison: .localizedStandard)

    init(comparison: StoreSortKey.Comparison) { self.comparison = comparison }

    /// The selector of that name, with its colon; `nil` for a name other than the five.
    public init?(_ name: String) {
        switch name {
        case "compare:": self = .compare
        case "caseInsensitiveCompare:": self = .caseInsensitiveCompare
        case "localizedCompare:": self = .localizedCompare
        case "localizedCaseInsensitiveCompare:": self = .localizedCaseInsensitiveCompare
        case "localizedStandardCompare:": self = .localizedStandardCompare
        default: return nil
        }
    }

    /// The selector named by a literal, with its colon.
    ///
    /// - Precondition: the name is one of the five.
    public init(stringLiteral name: String) {
        guard let selector = SortSelector(name) else {
            preconditionFailure("unsupported NSSortDescriptor selector: \(name)")
        }
        self = selector
    }

    /// The name, with its colon.
    public var name: String {
        switch comparison {
        case .plain, .custom: "compare:"
        case .caseInsensitive: "caseInsensitiveCompare:"
        case .localized: "localizedCompare:"
        case .localizedCaseInsensitive: "localizedCaseInsensitiveCompare:"
        case .localizedStandard: "localizedStandardCompare:"
        }
    }
}

/// A type whose Swift key paths have keys. Managed objects conform, so that a store can sort by
/// `NSSortDescriptor(keyPath: \Team.wins, ascending: true)`.
protocol KeyPathNaming {
    /// The dotted key path for `keyPath`; `nil` if it does not read a modelled property.
    static func key(of keyPath: AnyKeyPath) -> String?
}

extension SortKeyInitializable {
    /// Sorts by the values of `key`, a dotted key path, in the order of `compare:`; `nil` sorts the objects
    /// themselves.
    public init(key: String?, ascending: Bool) {
        self.init(made: KeySortDescriptor(key: key, ascending: ascending, comparison: .plain))
    }

    /// Sorts by the values of `key`, a dotted key path, compared with `selector`; `nil` means `compare:`.
    public init(key: String?, ascending: Bool, selector: SortSelector?) {
        self.init(made: KeySortDescriptor(key: key, ascending: ascending, comparison: selector?.comparison ?? .plain))
    }

    /// Sorts by the values of `key`, a dotted key path, with a comparator. Stores cannot run it, so objects are
    /// sorted in memory. It is called on the sorting thread; during a fetch this may be under the coordinator's lock.
    public init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
        self.init(made: KeySortDescriptor(key: key, ascending: ascending, comparison: .custom, code: comparator))
    }

    /// Sorts as `sortDescriptor` does, by the key of its key path. Texts are compared by code points, as Foundation's
    /// descriptors do on this system.
    ///
    /// - Precondition: its key path is that of a modelled property.
    public init<Compared>(_ sortDescriptor: SortDescriptor<Compared>) {
        let naming = Compared.self as? any KeyPathNaming.Type
        guard let keyPath = sortDescriptor.keyPath, let key = naming?.key(of: keyPath) else {
            preconditionFailure(
                "\(sortDescriptor) has no key: its key path is not a property in the model of \(Compared.self).")
        }
        self.init(key: key, ascending: sortDescriptor.order == .forward)
    }

    private init(made: NSSortDescriptor) {
        guard let made = made as? Self else { preconditionFailure("\(type(of: made)) is not a \(Self.self)") }
        self = made
    }
}

extension NSSortDescriptor {
    /// Sorts by a property whose values Swift cannot compare, such as an optional one. On any thread.
    public convenience init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        self.init(
            keyPath: keyPath, ascending: ascending,
            comparator: { ValueOrder.compare(PredicateValue($0), PredicateValue($1)) ?? .orderedSame })
    }

    /// The key of the descriptor; `nil` if it sorts the objects themselves.
    public var key: String? {
        if let descriptor = self as? KeySortDescriptor { return descriptor.text }
        return (type(of: keyPath).rootType as? any KeyPathNaming.Type)?.key(of: keyPath)
    }

    /// The selector that compares the values; `nil` if a comparator does.
    public var selector: SortSelector? {
        switch storeSortKey.comparison {
        case .plain: .compare
        case .caseInsensitive: .caseInsensitiveCompare
        case .localized: .localizedCompare
        case .localizedCaseInsensitive: .localizedCaseInsensitiveCompare
        case .localizedStandard: .localizedStandardCompare
        case .custom: nil
        }
    }

    /// The descriptor as a value for stores.
    ///
    /// A descriptor with a Swift key path counts as a plain comparison, because Foundation does not show whether it
    /// has a comparator.
    var storeSortKey: StoreSortKey {
        if let descriptor = self as? KeySortDescriptor { return descriptor.storeKey }
        guard let key else { return StoreSortKey(keyPath: ["self"], ascending: ascending, comparison: .custom) }
        return StoreSortKey(keyPath: key.split(separator: ".").map(String.init), ascending: ascending)
    }

    /// True if the descriptor has a Swift key path without a key, whose values only the object can supply. The object
    /// itself and its ID need no key.
    var isOfNoKey: Bool {
        guard !(self is KeySortDescriptor), key == nil else { return false }
        let path = type(of: keyPath)
        return path.valueType != NSManagedObjectID.self && path.valueType != path.rootType
    }

    /// The comparator of the values, if there is one.
    var customComparator: Comparator? {
        if let descriptor = self as? KeySortDescriptor { return descriptor.code }
        return key == nil ? comparator : nil
    }
}

/// A Foundation sort descriptor with a key.
final class KeySortDescriptor: NSSortDescriptor {
    /// The dotted key path.
    let text: String?
    let storeKey: StoreSortKey
    /// The comparator, for `.custom`.
    let code: Comparator?

    init(key: String?, ascending: Bool, comparison: StoreSortKey.Comparison, code: Comparator? = nil) {
        text = key
        self.code = code
        storeKey = StoreSortKey(
            keyPath: key?.split(separator: ".").map(String.init) ?? ["self"], ascending: ascending,
            comparison: comparison)
        super.init(
            keyPath: \Any.self, ascending: ascending,
            comparator: code ?? { left, right in
                ValueOrder.compareForSorting(PredicateValue(left), PredicateValue(right), comparison)
            })
    }

    /// Compares two objects: managed objects and dictionaries by the key, other values directly.
    override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        let result: ComparisonResult
        if let code {
            guard let left = value(of: object1), let right = value(of: object2) else {
                return ValueOrder.compareForSorting(read(object1), read(object2), .plain).directed(ascending)
            }
            result = code(left, right)
        } else {
            result = ValueOrder.compareForSorting(read(object1), read(object2), storeKey.comparison)
        }
        return result.directed(ascending)
    }

    private func read(_ object: Any) -> PredicateValue {
        // The common case, without checks for other types.
        if text != nil, let row = object as? NSManagedObject {
            if let key = onlyKey { return KeyReader.read(key, of: row) }
            return KeyReader.read(storeKey.keyPath, of: .object(row))
        }
        return text == nil ? PredicateValue(object) : KeyReader.read(storeKey.keyPath, of: PredicateValue(object))
    }

    /// The key, if it is a single property name.
    private var onlyKey: String? {
        guard storeKey.keyPath.count == 1, let text, !text.hasPrefix("@") else { return nil }
        return text
    }

    private func value(of object: Any) -> Any? { read(object).foundationValue }

    override var reversedSortDescriptor: Any {
        KeySortDescriptor(key: text, ascending: !ascending, comparison: storeKey.comparison, code: code)
    }

    override func copy(with zone: NSZone? = nil) -> Any { self }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KeySortDescriptor else { return false }
        return other === self || (other.storeKey == storeKey && code == nil && other.code == nil)
    }

    override var hash: Int { storeKey.hashValue }

    override var description: String {
        "(\(text ?? "self"), \(ascending ? "ascending" : "descending"), \(selector?.name ?? "block"))"
    }
}

extension ComparisonResult {
    /// The result, reversed for descending order.
    func directed(_ ascending: Bool) -> ComparisonResult {
        ascending ? self : ComparisonResult(rawValue: -rawValue) ?? self
    }
}
