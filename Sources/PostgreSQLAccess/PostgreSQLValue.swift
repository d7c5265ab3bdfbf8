#if PostgreSQL
    import Foundation

    /// A value of the server: an argument of a statement or the value of a column.
    package enum PostgreSQLValue: Equatable, Sendable {
        case null
        case boolean(Bool)
        case integer(Int64)
        case real(Double)
        case text(String)
        case bytes(Data)
        case uuid(UUID)
        case numeric(Decimal)
    }

    /// The supported types, by the server's type numbers.
    package enum PostgreSQLType: UInt32, Sendable {
        case boolean = 16
        case bytes = 17
        case bigint = 20
        case smallint = 21
        case integer = 23
        case text = 25
        case real = 700
        case double = 701
        case numeric = 1700
        case uuid = 2950

        /// The type number of its arrays.
        package var arrayNumber: UInt32 {
            switch self {
            case .boolean: 1000
            case .bytes: 1001
            case .bigint: 1016
            case .smallint: 1005
            case .integer: 1007
            case .text: 1009
            case .real: 1021
            case .double: 1022
            case .numeric: 1231
            case .uuid: 2951
            }
        }
    }

    /// An argument of a statement.
    package enum PostgreSQLArgument: Sendable {
        case value(PostgreSQLValue, PostgreSQLType)
        case list([PostgreSQLValue], PostgreSQLType)

        var typeNumber: UInt32 {
            switch self {
            case .value(_, let type): type.rawValue
            case .list(_, let type): type.arrayNumber
            }
        }
    }
#endif
