import CoreData

/// The values of rows that one statement sends to the server, by column.
struct ServerRowBlock {
    private let columns: [ServerRowWriting.Column]
    private var values: [[SQLValue]]
    private var bytes = 0
    private(set) var rows = 0..<0

    /// The maximum number of rows, and of bytes (roughly), in one statement.
    private static let mostRows = 5000
    private static let mostBytes = 16 << 20

    init(_ columns: [ServerRowWriting.Column]) {
        self.columns = columns
        values = Array(repeating: [], count: columns.count)
    }

    var isFull: Bool { rows.count >= Self.mostRows || bytes >= Self.mostBytes }

    mutating func add(_ value: (ServerRowWriting.Column) throws -> SQLValue) rethrows {
        for (index, column) in columns.enumerated() {
            let value = try value(column)
            switch value {
            case .text(let text): bytes += text.utf8.count
            case .blob(let data): bytes += data.count
            default: bytes += 8
            }
            values[index].append(value)
        }
        rows = rows.lowerBound..<rows.upperBound + 1
    }

    /// Returns the arguments of the statement and begins a new block.
    mutating func take() -> [ServerArgument] {
        defer {
            for index in values.indices { values[index].removeAll(keepingCapacity: true) }
            bytes = 0
            rows = rows.upperBound..<rows.upperBound
        }
        return zip(values, columns).map { .list($0, $1.type) }
    }
}

/// The cached column plans for writing entities.
final class ServerWritings {
    private let layout: ServerLayout
    private var known: [ObjectIdentifier: ServerRowWriting] = [:]

    init(_ layout: ServerLayout) { self.layout = layout }

    subscript(entity: NSEntityDescription) -> ServerRowWriting {
        if let known = known[ObjectIdentifier(entity)] { return known }
        let made = ServerRowWriting(entity, layout: layout)
        known[ObjectIdentifier(entity)] = made
        return made
    }
}
