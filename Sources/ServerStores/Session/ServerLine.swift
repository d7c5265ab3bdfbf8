import CoreData
import Foundation
import Synchronization

/// A long-lived connection, such as a session's. Opened when needed, with limited retries if the server is away.
///
/// After a failure the server is not contacted for some time, which grows with each failure and is randomised between
/// clients. A caller in the meantime gets the last error at once instead of waiting with the coordinator's lock.
/// Polling for commits never connects under the lock, but in the background.
final class ServerLine {
    private let place: ServerPlace
    private let database: any ServerDatabase
    private(set) var live: (any ServerConnection)?
    private var pause = 0.0
    private var notBefore: DispatchTime?
    private var lastError: (any Error)?
    private let background = Background()

    /// The connection made by another thread, which uses it until it is taken from here.
    private final class Background: Sendable {
        enum State {
            case idle
            case running
            case ready(UncheckedSendable<any ServerConnection>)
            case failed(any Error)
        }

        let state = Mutex<State>(.idle)
    }

    init(_ place: ServerPlace, _ database: any ServerDatabase, live: (any ServerConnection)? = nil) {
        self.place = place
        self.database = database
        self.live = live
    }

    /// Drops the connection, which ends everything open on it.
    func drop() { live = nil }

    /// Returns a new connection, or throws the last error again if the server was contacted recently.
    func connect() throws -> any ServerConnection {
        if let made = takeFromBackground() { return made }
        if let lastError, let notBefore, DispatchTime.now() < notBefore { throw lastError }
        return try connectNow()
    }

    /// Returns a new connection, even if the server was contacted recently.
    func connectNow() throws -> any ServerConnection {
        do { return take(try database.opened(at: place)) } catch {
            fail(error)
            throw error
        }
    }

    /// Returns a connection that was made in the background, without the lock. The first call starts making it.
    func connectInBackground() -> (any ServerConnection)? {
        if let made = takeFromBackground() { return made }
        if let notBefore, DispatchTime.now() < notBefore { return nil }
        let isFree = background.state.withLock { state in
            guard case .idle = state else { return false }
            state = .running
            return true
        }
        guard isFree else { return nil }
        DispatchQueue.global().async { [place, database, background] in
            let found: Background.State
            do { found = .ready(UncheckedSendable(try database.opened(at: place))) } catch {
                found = .failed(error)
            }
            background.state.withLock { $0 = found }
        }
        return nil
    }

    private func takeFromBackground() -> (any ServerConnection)? {
        let found = background.state.withLock { state -> Background.State in
            let found = state
            if case .running = found { return found }
            state = .idle
            return found
        }
        switch found {
        case .idle, .running: return nil
        case .ready(let made): return take(made.value)
        case .failed(let error):
            fail(error)
            return nil
        }
    }

    private func take(_ connection: any ServerConnection) -> any ServerConnection {
        live = connection
        (pause, notBefore, lastError) = (0, nil, nil)
        return connection
    }

    private static let shortestPause = 0.05
    private static let longestPause = 5.0

    private func fail(_ error: any Error) {
        pause = min(max(pause * 2, Self.shortestPause), Self.longestPause)
        notBefore = .now() + pause * Double.random(in: 0.5...1.5)
        lastError = error
    }
}
