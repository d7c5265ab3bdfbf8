import CGetopt
import Foundation
import RosterCommands

/// The parsed arguments of one verb.
struct Arguments {
    let operands: [String]
    private let values: [String: String]

    /// Returns the value of a flag; `nil` if the flag was not given.
    /// - Throws: ``CommandError`` of misuse for an invalid value.
    func value<Value>(_ flag: Flag<Value>) throws -> Value? { try values[flag.name].map(flag.read) }

    /// Returns the value of a required flag.
    /// - Throws: ``CommandError`` of misuse if the flag is missing or its value is invalid.
    func required<Value>(_ flag: Flag<Value>) throws -> Value {
        guard let value = try value(flag) else { throw CommandError.misuse("--\(flag.name) is missing") }
        return value
    }

    /// Returns true if a flag without a value was given.
    func has(_ flag: Flag<Bool>) -> Bool { values[flag.name] != nil }

    /// Returns the first path among the arguments that is not absolute; `nil` if there is none. URLs and `-` are not paths.
    func relativePath(for verb: any CommandVerb.Type) -> String? {
        let isPath = [WordCompletion.files, .stores]
        var paths = zip(verb.operands, operands).filter { isPath.contains($0.0.completion) }.map(\.1)
        paths += verb.allFlags.filter { isPath.contains($0.completion) }.compactMap { values[$0.name] }
        return paths.first { !$0.hasPrefix("/") && $0 != "-" && !$0.contains("://") && !$0.hasPrefix("file:") }
    }

    /// Parses `words` with `getopt_long`. Flags and operands may be in any order, `--` ends the flags, and a long name
    /// may be abbreviated. If a flag is repeated, its last value is used.
    ///
    /// Not thread-safe: `getopt_long` keeps its position in global variables.
    /// - Throws: ``CommandError`` of misuse for an unknown flag, a missing or superfluous value or operand, and a missing
    ///   required flag.
    init(_ words: [String], of verb: any CommandVerb.Type) throws {
        let table = OptionTable(verb.allFlags)
        (operands, values) = try table.scan(words)
        guard values[Flags.help.name] == nil else { return }
        try Self.check(operands, against: verb.operands)
        for flag in verb.requiredFlags where values[flag.name] == nil {
            throw CommandError.misuse("--\(flag.name) \(flag.placeholder ?? "") is missing")
        }
    }

    private static func check(_ given: [String], against wanted: [Operand]) throws {
        let needed = wanted.filter { !$0.isOptional }
        if given.count < needed.count {
            throw CommandError.misuse("\(needed[given.count].name) is missing")
        }
        if given.count > wanted.count, wanted.last?.repeats != true {
            throw CommandError.misuse("unexpected argument “\(given[wanted.count])”")
        }
    }
}

/// The flags of a verb, converted to the options of `getopt_long`.
private struct OptionTable {
    /// The code of the first long option; greater than the code of any letter.
    private static let firstCode: Int32 = 0x100

    private let flags: [any CommandFlag]

    init(_ flags: [any CommandFlag]) { self.flags = flags }

    // SAFETY: the texts of `names` and `arguments` are freed after the last use of the options, in the `defer` below.
    func scan(_ words: [String]) throws -> (operands: [String], values: [String: String]) {
        let argumentCount = Int32(words.count + 1)
        var arguments = (["roster"] + words).map { strdup($0) } + [nil]
        let names = flags.map { strdup($0.name) }
        // getopt_long reorders the array, so a copy keeps the pointers to free.
        let owned = arguments
        defer { (owned + names).forEach { free($0) } }
        var options = zip(flags, names).enumerated().map { index, flag in
            option(
                name: UnsafePointer(flag.1), has_arg: valueRule(of: flag.0), flag: nil,
                val: Self.firstCode + Int32(index))
        }
        options.append(option())
        var values: [String: String] = [:]
        roster_getopt_reset()
        while true {
            let code = getopt_long(argumentCount, &arguments, letters, &options, nil)
            if code == -1 { break }
            guard let flag = flag(of: code) else {
                let word = arguments[max(1, Int(roster_getopt_index()) - 1)]
                throw refusal(code, word: word.map { String(cString: $0) } ?? "")
            }
            values[flag.name] = roster_getopt_argument().map { String(cString: $0) } ?? ""
        }
        let operands = arguments[Int(roster_getopt_index())..<Int(argumentCount)].compactMap {
            $0.map { String(cString: $0) }
        }
        return (operands, values)
    }

    private func valueRule(of flag: any CommandFlag) -> Int32 {
        if flag.takesNextWord { return required_argument }
        return flag.mayLackValue ? optional_argument : no_argument
    }

    /// The short options. The leading colon makes getopt return different codes for a missing value and an unknown flag.
    private var letters: String {
        ":" + flags.compactMap { flag in flag.letter.map { flag.placeholder == nil ? "\($0)" : "\($0):" } }.joined()
    }

    private func flag(of code: Int32) -> (any CommandFlag)? {
        if code >= Self.firstCode { return flags[Int(code - Self.firstCode)] }
        guard let scalar = Unicode.Scalar(UInt32(bitPattern: code)) else { return nil }
        return flags.first { $0.letter == Character(scalar) }
    }

    private func refusal(_ code: Int32, word: String) -> CommandError {
        let last = roster_getopt_refused()
        let name = last >= Self.firstCode ? "--" + flags[Int(last - Self.firstCode)].name : nil
        let letter = Unicode.Scalar(UInt32(bitPattern: last)).map { "-\(Character($0))" } ?? word
        if code == Int32(UInt8(ascii: ":")) { return .misuse("\(name ?? letter) needs a value") }
        if let name { return .misuse("\(name) takes no value") }
        if last != 0 { return .misuse("unknown flag \(letter)") }
        let written = word.split(separator: "=").first.map(String.init) ?? word
        let near = flags.filter { ("--" + $0.name).hasPrefix(written) }.map { "--" + $0.name }
        return near.count > 1
            ? .misuse("ambiguous flag \(written): \(near.joined(separator: " or "))")
            : .misuse("unknown flag \(written)")
    }
}
