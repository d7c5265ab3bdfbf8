import Foundation

/// A replica of the server, from which is read what it has already.
///
/// It is never waited for long: a replica that is away, or behind what was written or seen here, is left alone, and the
/// server itself is asked. Its connection is made beside the coordinator's lock. Used under that lock.
final class ServerReplica {
    private let line: ServerLine
    private let version: ServerStoreVersion
    /// The connection of which ``number`` is known.
    private weak var known: (any ServerConnection)?
    /// What the replica has at least: it only goes on.
    private var number: Int64 = 0
    /// When it is asked again after it was behind.
    private var notBefore: DispatchTime?

    /// So long a read waits for the replica to catch up.
    private static let patience = DispatchTimeInterval.milliseconds(50)
    private static let pause = DispatchTimeInterval.milliseconds(200)
    private static let look: TimeInterval = 0.002

    init(_ replica: ServerOpening.Replica, _ version: ServerStoreVersion) {
        line = ServerLine(replica.place, replica.database)
        self.version = version
    }

    /// A connection to the replica, once that has the transaction of a number; `nil` where the server is to be asked.
    ///
    /// - Parameter state: asks for the number of the last transaction, and the version of the tables.
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

    /// Notes that a read failed there: whatever it was, the server itself says what is wrong.
    func failed(_ error: ServerError) {
        if error.kind == .lost { line.drop() }
        notBefore = .now() + Self.pause
    }

    func close() { line.drop() }
}
