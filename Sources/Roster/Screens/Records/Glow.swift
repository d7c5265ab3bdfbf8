import CoreData
import TerminalKit

/// Records that just changed, which are highlighted for a moment.
struct Glow {
    static let duration = Duration.milliseconds(1500)

    private var marks: [ObjectIdentifier: (mark: RowMark, end: ContinuousClock.Instant, object: NSManagedObject)] = [:]

    /// Highlights a record from now on. A move replaces an update, an insertion replaces both.
    mutating func add(_ mark: RowMark, for object: NSManagedObject, now: ContinuousClock.Instant) {
        let key = ObjectIdentifier(object)
        if let old = marks[key], old.mark == .inserted || (old.mark == .moved && mark == .updated) {
            marks[key] = (old.mark, now + Self.duration, object)
        } else {
            marks[key] = (mark, now + Self.duration, object)
        }
    }

    func mark(for object: NSManagedObject) -> RowMark? { marks[ObjectIdentifier(object)]?.mark }

    /// Time at which the next highlight ends.
    var nextEnd: ContinuousClock.Instant? { marks.values.map(\.end).min() }

    mutating func removeEnded(now: ContinuousClock.Instant) { marks = marks.filter { $0.value.end > now } }

    mutating func removeAll() { marks = [:] }
}
