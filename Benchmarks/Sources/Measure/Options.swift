import Foundation

/// What the command line asks for.
struct Options {
    /// The names of the workloads; all of them when none is named.
    var workloads: [String] = []
    var count = 100_000
    var sections = 5_000
    var rounds = 5
    /// Set in the processes that a measurement of memory starts.
    var child: MemoryProbe?
    /// Set in the processes that fill a store to be measured by others.
    var filling: StoreFilling?
    /// Set in the processes that write to a store, or follow a list of it.
    var followPart: FollowPart?
    #if PostgreSQL
        /// Set in the processes that write to a server beside others.
        var writer: ServerWriter?
    #endif
    /// Whether the process runs one workload for another, which has printed the head of the report.
    var isPart = false
    static let part = "--part"

    /// The sizes, as arguments of another process.
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
    /// What the environment says of a workload under `ROSTER_MEASURE_` and a name.
    static func setting(_ name: String, _ other: Double) -> Double {
        ProcessInfo.processInfo.environment["ROSTER_MEASURE_" + name].flatMap { Double($0) } ?? other
    }
}
