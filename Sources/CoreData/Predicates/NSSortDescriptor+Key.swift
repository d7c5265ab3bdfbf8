import Foundation

/// Makes `NSSortDescriptor` from keys.
///
/// Foundation on Linux sorts by Swift key paths only. As with predicates, an initialiser of a protocol hands out an
/// instance of a subclass that knows its key.
///
/// The initialisers may be called on any thread. What they make never changes, and is safe on any thread as far as its
/// comparator is.
public protocol SortKeyInitializable {}

extension NSSortDescriptor: SortKeyInitializable {}

/// How the values under a sort descriptor's key are compared: Apple's comparison selectors by name. A value, safe on any
/// thread.
public struct SortSelector: Hashable, Sendable, ExpressibleByStringLiteral {
    let comparison: StoreSortKey.Comparison

    /// `compare:`: numbers and dates by value, texts by their code points.
    public static let compare = SortSelector(comparison: .plain)
    /// `caseInsensitiveCompare:`: texts without regard to case.
    public static let caseInsensitiveCompare = SortSelector(comparison: .caseInsensitive)
    /// `localizedCompare:`: texts by the rules of the current locale.
    public static let localizedCompare = SortSelector(comparison: .localized)
    /// `localizedCaseInsensitiveCompare:`: texts by the rules of the current locale, without regard to case.
    public static let localizedCaseInsensitiveCompare = SortSelector(comparison: .localizedCaseInsensitive)
    /// `localizedStandardCompare:`: texts as lists of files order them, with numbers in them by value.
    public static let localizedStandardCompare = SortSelector(comparison: .localizedStandard)

    init(comparison: StoreSortKey.Comparison) { self.comparison = comparison }

    /// The selector of that name, with its colon; `nil` for a name that is none of the five.
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

    /// The selector of the name that a literal spells, with its colon.
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

/// A type whose Swift key paths stand for keys. Managed objects answer it, so that
/// `NSSortDescriptor(keyPath: \Team.wins, ascending: true)` reaches a store.
protocol KeyPathNaming {
    /// The key, or keys with dots, that `keyPath` reads; `nil` if it reads no modelled property.
    static func key(of keyPath: AnyKeyPath) -> String?
}

extension SortKeyInitializable {
    /// Sorts by the values under `key`, a key path with dots, in the order of `compare:`; `nil` sorts the objects themselves.
    public init(key: String?, ascending: Bool) {
        self.init(made: KeySortDescriptor(key: key, ascending: ascending, comparison: .plain))
    }

    /// Sorts by the values under `key`, a key path with dots, compared as `selector` says; `nil` compares as `compare:` does.
    public init(key: String?, ascending: Bool, selector: SortSelector?) {
        self.init(made: KeySortDescriptor(key: key, ascending: ascending, comparison: selector?.comparison ?? .plain))
    }

    /// Sorts by the values under `key`, a key path with dots, compared by code. No store can do it: the objects are sorted in
    /// memory. The code is called on the thread that sorts; in a fetch that may be under the coordinator's lock.
    public init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
        self.init(made: KeySortDescriptor(key: key, ascending: ascending, comparison: .custom, code: comparator))
    }

    /// Sorts as `sortDescriptor` does, by the key that its key path stands for. Texts are compared by their code points, as
    /// Foundation's descriptors do on this system.
    ///
    /// - Precondition: its key path is of a modelled property.
    public init<Compared>(_ sortDescriptor: SortDescriptor<Compared>) {
        let naming = Compared.self as? any KeyPathNaming.Type
        guard let keyPath = sortDescriptor.keyPath, let key = naming?.key(of: keyPath) else {
            preconditionFailure(
                "\(sortDescriptor) stands for no key: its key path is of no modelled property of \(Compared.self).")
        }
        self.init(key: key, ascending: sortDescriptor.order == .forward)
    }

    private init(made: NSSortDescriptor) {
        guard let made = made as? Self else { preconditionFailure("\(type(of: made)) is no \(Self.self)") }
        self = made
    }
}

extension NSSortDescriptor {
    /// Sorts by a property that cannot be compared as Swift values are, an optional one for example. On any thread.
    public convenience init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        self.init(
            keyPath: keyPath, ascending: ascending,
            comparator: { ValueOrder.compare(PredicateValue($0), PredicateValue($1)) ?? .orderedSame })
    }

    /// The key that the descriptor sorts by; `nil` if it sorts the objects themselves.
    public var key: String? {
        if let descriptor = self as? KeySortDescriptor { return descriptor.text }
        return (type(of: keyPath).rootType as? any KeyPathNaming.Type)?.key(of: keyPath)
    }

    /// The selector that compares the values; `nil` where code does.
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
    /// A descriptor with a Swift key path counts as a plain comparison: Foundation does not tell whether the program
    /// gave it code of its own.
    var storeSortKey: StoreSortKey {
        if let descriptor = self as? KeySortDescriptor { return descriptor.storeKey }
        guard let key else { return StoreSortKey(keyPath: ["self"], ascending: ascending, comparison: .custom) }
        return StoreSortKey(keyPath: key.split(separator: ".").map(String.init), ascending: ascending)
    }

    /// Whether it is made of a key path of Swift that stands for no key: its code compares values that only an object has. The
    /// object itself and its ID need no key.
    var isOfNoKey: Bool {
        guard !(self is KeySortDescriptor), key == nil else { return false }
        let path = type(of: keyPath)
        return path.valueType != NSManagedObjectID.self && path.valueType != path.rootType
    }

    /// The code that compares values under the key, where the descriptor has some.
    var customComparator: Comparator? {
        if let descriptor = self as? KeySortDescriptor { return descriptor.code }
        return key == nil ? comparator : nil
    }
}

/// Foundation's class, with a key.
final class KeySortDescriptor: NSSortDescriptor {
    /// The key with its dots.
    let text: String?
    let storeKey: StoreSortKey
    /// For `.custom`.
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

    /// Compares two objects: managed objects or dictionaries by the key, other values as they are.
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
        // The frequent case without a search for what the value is.
        if text != nil, let row = object as? NSManagedObject {
            if let key = onlyKey { return KeyReader.read(key, of: row) }
            return KeyReader.read(storeKey.keyPath, of: .object(row))
        }
        return text == nil ? PredicateValue(object) : KeyReader.read(storeKey.keyPath, of: PredicateValue(object))
    }

    /// The key, where it is a property's name.
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
    /// The result, turned round for a descending order.
    func directed(_ ascending: Bool) -> ComparisonResult {
        ascending ? self : ComparisonResult(rawValue: -rawValue) ?? self
    }
}
