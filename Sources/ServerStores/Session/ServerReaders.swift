import CoreData
import Foundation
import Synchronization

/// The connections beside that of the session, on which asynchronous fetches and pinned generations read. Those that are not
/// in use wait a while for the next one: to make one takes longer than most of what is read.
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

    /// So many wait at most, and so long.
    private static let mostIdle = 4
    private static let longestIdle = 60

    init(_ opening: ServerOpening) { self.opening = UncheckedSendable(opening) }

    /// A connection on which `statements` were run; one that waited may have been lost meanwhile, then the next.
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

    /// Takes a connection back whose reader is done. On any thread, at once: its transaction is ended on another one.
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
        // Ended outside of the lock.
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
