import CoreData
import Dispatch

// Costs of reading and writing a property: of a generated class, of a hand-written class with @Managed, and by name.
// Also the cost of waiting for a context's queue.
// usage: Accessors [REPETITIONS]

public final class Written: NSManagedObject {
    @Managed public var day: Date?
    @Managed public var name: String?
    @Managed public var wins: Int32
    @Managed public var next: Written?
    @Managed public var previous: Written?
}

let repetitions = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000_000
let container = NSPersistentContainer(name: "Accessors")
let generated = Generated(context: container.viewContext)
let written = Written(context: container.viewContext)
generated.name = "Japan"
written.name = "Japan"
generated.day = Date()
written.day = Date()
generated.next = Generated(context: container.viewContext)
written.next = Written(context: container.viewContext)

/// Nanoseconds of processor time for one run of `work`; the best of five series.
func cost(_ work: () -> Void) -> Double {
    (0..<5).map { _ in
        var start = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start)
        for _ in 0..<repetitions { work() }
        var end = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end)
        let nanoseconds = Double(end.tv_sec - start.tv_sec) * 1e9 + Double(end.tv_nsec - start.tv_nsec)
        return nanoseconds / Double(repetitions)
    }.min() ?? 0
}

func line(_ what: String, _ generated: Double, _ written: Double, _ named: Double) {
    print(String(format: "| %@ | %.1f | %.1f | %.2f× | %.1f |", what, generated, written, written / generated, named))
}

nonisolated(unsafe) var sink = 0

print("| nanoseconds | generated | `@Managed` | ratio | `value(forKey:)` |")
print("|---|---:|---:|---:|---:|")
line(
    "read a number", cost { sink &+= Int(generated.wins) }, cost { sink &+= Int(written.wins) },
    cost { sink &+= generated.value(forKey: "wins") as? Int ?? 0 })
line(
    "read a text", cost { sink &+= generated.name?.utf8.count ?? 0 }, cost { sink &+= written.name?.utf8.count ?? 0 },
    cost { sink &+= (generated.value(forKey: "name") as? String)?.utf8.count ?? 0 })
line(
    "read a date", cost { sink &+= generated.day == nil ? 0 : 1 }, cost { sink &+= written.day == nil ? 0 : 1 },
    cost { sink &+= generated.value(forKey: "day") as? Date == nil ? 0 : 1 })
line(
    "read a to-one relationship", cost { sink &+= generated.next == nil ? 0 : 1 },
    cost { sink &+= written.next == nil ? 0 : 1 },
    cost { sink &+= generated.value(forKey: "next") as? Generated == nil ? 0 : 1 })
line(
    "write a number", cost { generated.wins &+= 1 }, cost { written.wins &+= 1 },
    cost { generated.setValue(sink, forKey: "wins") })

// A context's queue that no other thread uses, compared with a plain queue.
let background = container.newBackgroundContext()
let queue = DispatchQueue(label: "bare")
print("\n| nanoseconds | context | bare queue | ratio |\n|---|---:|---:|---:|")
let (waiting, bare) = (cost { background.performAndWait { sink &+= 1 } }, cost { queue.sync { sink &+= 1 } })
print(String(format: "| `performAndWait`, uncontended | %.1f | %.1f | %.2f× |", waiting, bare, waiting / bare))
let nested = background.performAndWait { cost { background.performAndWait { sink &+= 1 } } }
print(String(format: "| the same within itself | %.1f | – | – |", nested))
precondition(sink != 0)
