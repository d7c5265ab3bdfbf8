import CoreData
import TerminalKit

/// Which records changed a moment ago, and how. They stand out for a while.
struct Glow {
    static let duration = Duration.milliseconds(1500)

    private var marks: [ObjectIdentifier: (mark: RowMark, end: ContinuousClock.Instant, object: NSManagedObject)] = [:]

    /// Lets a record stand out from now on. A move outshines an update, an insert outshines both.
    mutating func add(_ mark: RowMark, for object: NSManagedObject, now: ContinuousClock.Instant) {
        let key = ObjectIdentifier(object)
        if let old = marks[key], old.mark == .inserted || (old.mark == .moved && mark == .updated) {
            marks[key] = (old.mark, now + Self.duration, object)
        } else {
            marks[key] = (mark, now + Self.duration, object)
        }
    }

    func mark(for object: NSManagedObject) -> RowMark? { marks[ObjectIdentifier(object)]?.mark }

    /// When the next one ends.
    var nextEnd: ContinuousClock.Instant? { marks.values.map(\.end).min() }

    mutating func removeEnded(now: ContinuousClock.Instant) { marks = marks.filter { $0.value.end > now } }

    mutating func removeAll() { marks = [:] }
}
