import RosterCommands

/// A positional command-line argument.
struct Operand {
    let name: String
    var isOptional = false
    var repeats = false
    var completion = WordCompletion.none

    var usage: String {
        let text = repeats ? name + "…" : name
        return isOptional ? "[\(text)]" : text
    }
}

/// A verb of the program: its help, its arguments and the code that runs it.
protocol CommandVerb: Sendable {
    /// The verb as typed, one or two words; empty for the terminal program, which has no verb.
    static var name: String { get }
    /// The description in help, one sentence.
    static var summary: String { get }
    static var operands: [Operand] { get }
    /// The verb's own flags. ``allFlags`` adds `--help`, and `--sql` and `--plans` if the verb opens a store.
    static var flags: [any CommandFlag] { get }
    /// The flags that must be given.
    static var requiredFlags: [any CommandFlag] { get }
    /// Additional text for `--help`, such as argument syntax and examples.
    static var notes: String { get }
    /// True if SIGINT, SIGTERM and SIGHUP make the verb stop at the next safe point; false if they end the program.
    static var stopsCleanly: Bool { get }
    /// Runs the verb and returns the exit status.
    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus
    /// The exit status for an error of the verb or its arguments.
    static func status(for error: any Error) -> ExitStatus
}

extension CommandVerb {
    static var requiredFlags: [any CommandFlag] { [] }
    static var notes: String { "" }
    static var stopsCleanly: Bool { true }
    static func status(for error: any Error) -> ExitStatus { ExitStatus(for: error) }
    static var allFlags: [any CommandFlag] {
        flags + (opensStore ? [Flags.sql, Flags.plans] : []) + [Flags.help]
    }
    /// True if an operand is a store, so that the verb may run SQL statements.
    private static var opensStore: Bool { operands.contains { $0.name.hasPrefix(Operand.store.name) } }
}
