import CoreData
import Foundation
import Synchronization

/// A pool of connections for asynchronous fetches and pinned generations. Unused ones are kept for some time, because
/// opening one takes longer than most reads.
final class ServerReaders: Sendable {
    private struct Idle {
        let connection: UncheckedSendable<any ServerConnection>
        let since: DispatchTime
    }

    private struct State {
        var idle: [Idle] = []
        var isClosed = false
    }

    private let opening: UncheckedSendable<ServerOpening>
    private let state = Mutex(State())

    /// The maximum number of unused connections, and the seconds for which they are kept.
    private static let mostIdle = 4
    private static let longestIdle = 60

    init(_ opening: ServerOpening) { self.opening = UncheckedSendable(opening) }

    /// Returns a connection after running `statements` on it. Skips unused connections that were lost.
    ///
    /// - Throws: ``ServerError``
    func take(running statements: [ServerStatement]) throws -> any ServerConnection {
        while let waiting = state.withLock({ $0.idle.popLast() }) {
            do {
                _ = try waiting.connection.value.run(statements)
                return waiting.connection.value
            } catch let error as ServerError where error.kind == .lost { continue }
        }
        let opening = opening.value
        let made = try opening.database.opened(at: opening.place)
        _ = try made.run(statements)
        return made
    }

    /// Returns a connection to the pool. On any thread, without blocking: another one ends its transaction.
    func giveBack(_ connection: any ServerConnection) {
        let connection = UncheckedSendable(connection)
        guard state.withLock({ !$0.isClosed && $0.idle.count < Self.mostIdle }) else { return }
        DispatchQueue.global().async { [self] in
            if connection.value.isInTransaction {
                guard (try? connection.value.run([ServerStatement("ROLLBACK")])) != nil else { return }
            }
            state.withLock { state in
                guard !state.isClosed, state.idle.count < Self.mostIdle else { return }
                state.idle.append(Idle(connection: connection, since: .now()))
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Self.longestIdle)) { [weak self] in
                self?.dropOld()
            }
        }
    }

    private func dropOld() {
        let limit = DispatchTime.now().uptimeNanoseconds
        let age = UInt64(Self.longestIdle) * 1_000_000_000
        // Connections are closed outside of the lock.
        let old = state.withLock { state in
            let old = state.idle.filter { limit - min($0.since.uptimeNanoseconds, limit) >= age }
            state.idle.removeAll { limit - min($0.since.uptimeNanoseconds, limit) >= age }
            return old
        }
        withExtendedLifetime(old) {}
    }

    func close() {
        let rest = state.withLock { state in
            defer { state.idle = [] }
            state.isClosed = true
            return state.idle
        }
        withExtendedLifetime(rest) {}
    }
}
