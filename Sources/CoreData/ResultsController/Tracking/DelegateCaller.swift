import Foundation

/// Calls a delegate in the form that it implements, and learns which form that is.
///
/// Design. Whether a type implements an optional method cannot be seen in Swift on Linux. The default implementation of
/// each says that it is missing when it is called (``isMissing(_:)``), so a method is known once it was called. What may
/// be missing is called with the state that a delegate is promised to see, and counts as not called if it was.
final class DelegateCaller {
    struct Methods: OptionSet {
        let rawValue: Int
        static let willChange = Methods(rawValue: 1)
        static let section = Methods(rawValue: 2)
        static let object = Methods(rawValue: 4)
        static let didChange = Methods(rawValue: 8)
        static let snapshot = Methods(rawValue: 16)
        static let difference = Methods(rawValue: 32)
        static let indexTitle = Methods(rawValue: 64)
        static let rowForm: Methods = [.willChange, .section, .object, .didChange]
    }

    private(set) weak var delegate: (any NSFetchedResultsControllerDelegate)?
    private var missing: Methods = []
    private var present: Methods = []

    /// Begins with another delegate, of which nothing is known.
    func use(_ delegate: (any NSFetchedResultsControllerDelegate)?) {
        self.delegate = delegate
        missing = []
        present = []
    }

    /// Called by the default implementations.
    func isMissing(_ method: Methods) { missing.formUnion(method) }

    /// Whether `method` may be implemented.
    func mayHave(_ method: Methods) -> Bool { delegate != nil && !missing.isSuperset(of: method) }

    /// Whether it is known that the delegate does not follow changes: in a list without sections it has none to hear of.
    func isDeaf(isSectioned: Bool) -> Bool {
        guard delegate != nil else { return true }
        var forms: Methods = [.willChange, .object, .didChange, .snapshot]
        forms.formUnion(isSectioned ? .section : .difference)
        return missing.isSuperset(of: forms)
    }

    /// Whether the delegate is known to implement one of the methods of the row form.
    var isKnownToHearRows: Bool { !present.isDisjoint(with: .rowForm) }

    /// Calls a method unless it is known to be missing.
    ///
    /// - Returns: whether the delegate implements it.
    @discardableResult
    func call(_ method: Methods, _ body: (any NSFetchedResultsControllerDelegate) -> Void) -> Bool {
        guard let delegate, !missing.contains(method) else { return false }
        body(delegate)
        guard delegate === self.delegate, !missing.contains(method) else { return false }
        present.formUnion(method)
        return true
    }
}
