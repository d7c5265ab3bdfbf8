import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// A small service that stores records in memory and answers HTTP with JSON on the loopback address.
///
/// | request | answer |
/// |---|---|
/// | `GET /metadata`, `PUT /metadata` | the store's metadata, a property list |
/// | `GET /records?entity=Team&entity=Club` | the records of these entities |
/// | `GET /record?reference=…` | one record, or 404 |
/// | `POST /transaction` | 200 if all of it was written, or 409 with the changed references and nothing written |
/// | `GET /changes?after=7` | the changes since then; waits up to a second for one |
///
/// Each connection carries one request and has its own thread: an example, not a server for production.
public final class RecordServer: Sendable {
    private struct State {
        var metadata = Data()
        var records: [String: ServiceRecord] = [:]
        var changes: [ServiceChange] = []
    }

    private let state = Mutex(State())
    private let listener: Int32
    private let isStopped = Mutex(false)
    /// The service's address for clients.
    public let url: URL

    /// Starts the service on a free port of the loopback address.
    ///
    /// - Throws: `POSIXError` if no port is available.
    public init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard listener >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard status, let url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/") else {
            close(listener)
            throw POSIXError(.init(rawValue: errno) ?? .EIO)
        }
        (self.listener, self.url) = (listener, url)
        Thread.detachNewThread { self.acceptConnections() }
    }

    /// Stops the service. Later connections are refused.
    public func stop() {
        let wasStopped = isStopped.withLock { stopped in
            defer { stopped = true }
            return stopped
        }
        if !wasStopped { shutdown(listener, Int32(SHUT_RDWR)) }
    }

    private func acceptConnections() {
        while !isStopped.withLock({ $0 }) {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { break }
            Thread.detachNewThread { [weak self] in
                if let request = HTTPRequest.read(from: connection), let self {
                    HTTPRequest.write(self.answer(request), to: connection)
                }
                close(connection)
            }
        }
        close(listener)
    }

    // MARK: Answers

    private func answer(_ request: HTTPRequest) -> (status: Int, body: Data) {
        switch (request.method, request.path) {
        case ("GET", "/metadata"): return (200, state.withLock { $0.metadata })
        case ("PUT", "/metadata"):
            state.withLock { $0.metadata = request.body }
            return (200, Data())
        case ("GET", "/records"):
            let entities = Set(request.query["entity"] ?? [])
            let found = state.withLock { $0.records.values.filter { entities.contains($0.entity) } }
            return json(200, found.sorted { $0.reference < $1.reference })
        case ("GET", "/record"):
            let record = state.withLock { $0.records[request.query["reference"]?.first ?? ""] }
            return record.map { json(200, $0) } ?? (404, Data())
        case ("POST", "/transaction"):
            guard let transaction = try? JSONDecoder().decode(ServiceTransaction.self, from: request.body) else {
                return (400, Data("the body is no transaction".utf8))
            }
            let conflicts = state.withLock { write(transaction, to: &$0) }
            return conflicts.isEmpty ? (200, Data()) : json(409, ServiceConflict(references: conflicts))
        case ("GET", "/changes"): return changes(after: request.query["after"]?.first.flatMap { Int($0) } ?? 0)
        default: return (404, Data("there is nothing at \(request.path)".utf8))
        }
    }

    private func json(_ status: Int, _ value: some Encodable) -> (status: Int, body: Data) {
        guard let data = try? JSONEncoder().encode(value) else { return (500, Data()) }
        return (status, data)
    }

    /// Writes the whole transaction or nothing.
    ///
    /// - Returns: References of records whose version differs from the one in the transaction.
    private func write(_ transaction: ServiceTransaction, to state: inout State) -> [String] {
        let conflicts = (transaction.changed + transaction.deleted).filter {
            (state.records[$0.reference]?.version ?? 0) != $0.version
        }
        guard conflicts.isEmpty else { return conflicts.map(\.reference) }
        for var record in transaction.changed {
            let kind: ServiceChange.Kind = record.version == 0 ? .inserted : .updated
            record.version += 1
            state.records[record.reference] = record
            state.changes.append(ServiceChange(reference: record.reference, entity: record.entity, kind: kind))
        }
        for record in transaction.deleted {
            state.records[record.reference] = nil
            state.changes.append(ServiceChange(reference: record.reference, entity: record.entity, kind: .deleted))
        }
        return []
    }

    private func changes(after number: Int) -> (status: Int, body: Data) {
        for _ in 0..<100 {
            let (last, changes) = state.withLock { ($0.changes.count, Array($0.changes.dropFirst(max(number, 0)))) }
            if !changes.isEmpty || isStopped.withLock({ $0 }) || number < 0 {
                return json(200, ServiceChanges(last: last, changes: number < 0 ? [] : changes))
            }
            usleep(10_000)
        }
        return json(200, ServiceChanges(last: number, changes: []))
    }
}
