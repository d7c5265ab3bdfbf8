import Foundation

/// A replica of the server for reads of data that it already has.
///
/// Reads never wait long for it. If the replica is away, or behind a transaction written or seen here, the server is
/// used instead. Its connection is made without the coordinator's lock. Used under that lock.
final class ServerReplica {
    private let line: ServerLine
    private let version: ServerStoreVersion
    /// The connection to which ``number`` applies.
    private weak var known: (any ServerConnection)?
    /// The lowest number that the replica has. It never decreases.
    private var number: Int64 = 0
    /// The time from which it is used again after it was behind.
    private var notBefore: DispatchTime?

    /// The time for which a read waits for the replica.
    private static let patience = DispatchTimeInterval.milliseconds(50)
    private static let pause = DispatchTimeInterval.milliseconds(200)
    private static let look: TimeInterval = 0.002

    init(_ replica: ServerOpening.Replica, _ version: ServerStoreVersion) {
        line = ServerLine(replica.place, replica.database)
        self.version = version
    }

    /// Returns a connection to the replica after it has the wanted transaction; `nil` if the server must be used.
    ///
    /// - Parameter state: selects the number of the last transaction and the version of the tables.
    func connection(having wanted: Int64, _ state: ServerStatement) -> (any ServerConnection)? {
        if let notBefore, DispatchTime.now() < notBefore { return nil }
        guard let connection = line.live ?? line.connectInBackground() else { return nil }
        if known !== connection { (known, number) = (connection, -1) }
        let end = DispatchTime.now() + Self.patience
        do {
            while number < wanted {
                let result = try connection.run([state])[0]
                guard result.rowCount == 1, case .integer(let changes) = result.value(0, 0),
                    case .integer(let model) = result.value(0, 1), case .text(let identifier) = result.value(0, 2),
                    ServerStoreVersion(identifier: identifier, number: model) == version
                else { return leave() }
                number = changes
                guard number < wanted else { break }
                guard DispatchTime.now() < end else { return leave() }
                Thread.sleep(forTimeInterval: Self.look)
            }
        } catch {
            line.drop()
            return leave()
        }
        notBefore = nil
        return connection
    }

    private func leave() -> (any ServerConnection)? {
        notBefore = .now() + Self.pause
        return nil
    }

    /// Records a failed read. The server itself then reports the error, if there is one.
    func failed(_ error: ServerError) {
        if error.kind == .lost { line.drop() }
        notBefore = .now() + Self.pause
    }

    func close() { line.drop() }
}
