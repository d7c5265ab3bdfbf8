import CoreData
import Foundation

/// 9: memory of an unaccessed row, of a fault, of a loaded object, and of a process that scrolled a long list.
@MainActor struct MemoryWorkload {
    let stage: Stage

    /// A row as a structure.
    private struct Plain {
        let name: String
        let zone: String
        let wins: Int32
        let founded: Date
        let venue: Int32
    }

    func run() throws {
        let url = try stage.filledStore(stage.count)
        let stack = try League.Stack(url)
        let records = stage.records(stage.count)
        let plain = heap {
            records.map { record in
                Plain(
                    name: String(decoding: Array(record.name.utf8), as: UTF8.self), zone: record.zone,
                    wins: Int32(record.wins),
                    founded: Date(timeIntervalSinceReferenceDate: record.founded), venue: Int32(record.venue))
            }
        }
        let listed = try heap {
            let controller = try stack.list()
            try controller.performFetch()
            return controller
        }
        report("a row of a list that was never accessed", listed, plain: nil, .absolute(12), .absolute(64))
        let fault = try objects(stack, League.request())
        report("a fault object", fault, plain: nil, .absolute(80), .absolute(120))
        let request = League.request(batchSize: 0)
        request.returnsObjectsAsFaults = false
        let loaded = try objects(stack, request)
        report(
            "a loaded object of five attributes (anchor: a Swift structure)", loaded, plain: plain, .absolute(200),
            .absolute(300))
        let null = try MemoryProbe(kind: .nothing, url: url).measure()
        let walked = try MemoryProbe(kind: .walk, url: url).measure()
        Line(
            number: 9, what: "resident after 1,000 random pages of the list, minus an idle process",
            unit: .megabytes, figure: walked - null, target: .absolute(40e6)
        ).report()
    }

    private func report(
        _ what: String, _ bytes: Double, plain: Double?, _ target: Line.Bound, _ limit: Line.Bound
    ) {
        Line(
            number: 9, what: "heap of \(what)", unit: .bytes, figure: bytes, anchor: plain, target: target, limit: limit
        ).report()
    }

    private func objects(_ stack: League.Stack, _ request: NSFetchRequest<Team>) throws -> Double {
        let context = stack.container.newBackgroundContext()
        let bytes = try heap { try context.performAndWait { try context.fetch(request) } }
        context.performAndWait { context.reset() }
        return bytes
    }

    /// Bytes in use per row after `make`, while its result is alive.
    private func heap<Made>(_ make: () throws -> Made) rethrows -> Double {
        let before = Memory.heap
        let made = try make()
        let after = Memory.heap
        return withExtendedLifetime(made) { (after - before) / Double(stage.count) }
    }
}
