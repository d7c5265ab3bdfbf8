import Foundation

/// Arguments of the command line.
struct Options {
    /// Names of the workloads; empty for all.
    var workloads: [String] = []
    var count = 100_000
    var sections = 5_000
    var rounds = 5
    /// Set in processes that a memory measurement starts.
    var child: MemoryProbe?
    /// Set in processes that fill a store for others.
    var filling: StoreFilling?
    /// Set in processes that write to a store or follow its list.
    var followPart: FollowPart?
    #if PostgreSQL
        /// Set in processes that write to a server concurrently.
        var writer: ServerWriter?
    #endif
    /// True if the process runs one workload for another process, which has printed the table's head.
    var isPart = false
    static let part = "--part"

    /// The sizes as arguments of another process.
    var sizes: [String] { ["--count", "\(count)", "--sections", "\(sections)", "--rounds", "\(rounds)"] }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        var numbers: [Int] = []
        while let argument = rest.popFirst() {
            switch argument {
            case "--count": count = try Self.number(&rest, after: argument)
            case "--sections": sections = try Self.number(&rest, after: argument)
            case "--rounds": rounds = try Self.number(&rest, after: argument)
            case Self.part: isPart = true
            case StoreFilling.argument: filling = try StoreFilling(&rest)
            case MemoryProbe.argument: child = try MemoryProbe(&rest)
            case FollowPart.argument: followPart = try FollowPart(&rest)
            #if PostgreSQL
                case ServerWriter.argument: writer = try ServerWriter(&rest)
            #endif
            default:
                if let number = Int(argument) {
                    numbers.append(number)
                } else if Suite.names.contains(argument) {
                    workloads.append(argument)
                } else {
                    throw Failure(
                        description: "no workload \(argument); there are \(Suite.names.joined(separator: ", "))")
                }
            }
        }
        if let first = numbers.first { count = first }
        if numbers.count > 1 { sections = numbers[1] }
        if numbers.count > 2 { rounds = numbers[2] }
        guard count >= 100, sections > 0, rounds > 0 else {
            throw Failure(description: "at least 100 rows, one section and one round")
        }
    }

    private static func number(_ rest: inout ArraySlice<String>, after option: String) throws -> Int {
        guard let text = rest.popFirst(), let number = Int(text) else {
            throw Failure(description: "\(option) wants a number")
        }
        return number
    }
}

extension Options {
    /// The environment variable `ROSTER_MEASURE_` and `name`, or `other` if it is not set.
    static func setting(_ name: String, _ other: Double) -> Double {
        ProcessInfo.processInfo.environment["ROSTER_MEASURE_" + name].flatMap { Double($0) } ?? other
    }
}
