import Foundation

/// Calls a delegate in the form that it implements, and detects which form that is.
///
/// Design. Swift on Linux cannot detect whether a type implements an optional method. The default implementation of
/// each reports that it is missing when it is called (``isMissing(_:)``), so a method is known after its first call. A
/// method that may be missing is called in the state that a delegate is promised to see, and counts as not called if it
/// was missing.
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

    /// The known methods of one delegate.
    private final class Knowledge {
        var missing: Methods = []
        var present: Methods = []
    }

    /// The controller whose delegate is called, and the argument of each call.
    weak var controller: NSFetchedResultsController<NSFetchRequestResult>?
    private(set) weak var delegate: (any NSFetchedResultsControllerDelegate)?
    private var knowledge = Knowledge()
    /// The knowledge of the delegate that is being called: a callback may replace the delegate.
    private var called: Knowledge?

    /// Switches to another delegate, whose methods are unknown.
    func use(_ delegate: (any NSFetchedResultsControllerDelegate)?) {
        self.delegate = delegate
        knowledge = Knowledge()
    }

    /// Records that the delegate lacks a method. Called by the default implementations of the delegate's methods.
    func isMissing(_ method: Methods) { (called ?? knowledge).missing.formUnion(method) }

    /// True if `method` may be implemented.
    func mayHave(_ method: Methods) -> Bool { delegate != nil && !knowledge.missing.contains(method) }

    /// True if the delegate is known not to follow changes. In a list without sections, section changes do not count.
    func isDeaf(isSectioned: Bool) -> Bool {
        guard delegate != nil else { return true }
        var forms: Methods = [.willChange, .object, .didChange, .snapshot]
        forms.formUnion(isSectioned ? .section : .difference)
        return knowledge.missing.isSuperset(of: forms)
    }

    /// True if the delegate is known to implement one of the methods of the row form.
    var isKnownToHearRows: Bool { !knowledge.present.isDisjoint(with: .rowForm) }

    /// True if the delegate is known to implement the difference method.
    var isKnownToHearDifferences: Bool { knowledge.present.contains(.difference) }

    /// True if the delegate is known to implement the snapshot method.
    var isKnownToHearSnapshots: Bool { knowledge.present.contains(.snapshot) }

    /// Reports to the delegate that the list could not follow a change.
    func tell(_ failure: any Error) {
        if let delegate, let controller { delegate.controller(controller, didFailToFollowChangesWith: failure) }
    }

    /// Calls a method unless it is known to be missing.
    ///
    /// - Returns: True if the delegate implements it.
    @discardableResult
    func call(
        _ method: Methods,
        _ body: (any NSFetchedResultsControllerDelegate, NSFetchedResultsController<NSFetchRequestResult>) -> Void
    ) -> Bool {
        guard let delegate, let controller, !knowledge.missing.contains(method) else { return false }
        let knowledge = knowledge
        let outer = called
        called = knowledge
        body(delegate, controller)
        called = outer
        guard !knowledge.missing.contains(method) else { return false }
        knowledge.present.formUnion(method)
        return true
    }
}
