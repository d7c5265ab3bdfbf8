import Foundation
import Observation

/// Streams and other followers of the list besides its delegate.
extension ResultsTracker {
    var snapshot: FetchedResultsSnapshot? {
        guard let state, state.fixedResults == nil else { return nil }
        return FetchedResultsSnapshot(state.published, names: state.names, identities: state.identities)
    }

    /// True if a stream or snapshot listener follows every batch, regardless of the delegate.
    var hasFollowers: Bool { followsChanges || !listeners.isEmpty }

    func knownObject(at indexPath: IndexPath) -> AnyObject? {
        observation.access(self, keyPath: \.state)
        return indexPath.listPath.flatMap { state?.result(at: $0) }
    }

    func withoutAnnouncing<Result>(_ body: () throws -> Result) rethrows -> Result {
        precondition(!isWorking, "withoutChanges cannot be used while the delegate is called.")
        context.processPendingChanges()
        isSilent = true
        defer { isSilent = false }
        let result = try body()
        context.processPendingChanges()
        return result
    }
}

extension ResultsTracker: Observable {}
