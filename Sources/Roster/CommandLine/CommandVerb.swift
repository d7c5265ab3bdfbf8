import RosterCommands

/// An argument of the command line without a dash.
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

/// A verb of the program: a type that holds its own help and makes a command of its arguments.
protocol CommandVerb: Sendable {
    /// Empty for the terminal program, which has no verb.
    static var name: String { get }
    /// One sentence for help.
    static var summary: String { get }
    static var operands: [Operand] { get }
    /// Without help, and without those of every verb that opens a store.
    static var flags: [any CommandFlag] { get }
    /// Those of the flags that must be given.
    static var requiredFlags: [any CommandFlag] { get }
    /// More for `--help`: forms of arguments, examples.
    static var notes: String { get }
    /// Whether Ctrl-C asks the verb to stop at the next clean point, instead of ending the program.
    static var stopsCleanly: Bool { get }
    /// Runs the command.
    /// - Returns: the exit status.
    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus
}

extension CommandVerb {
    static var requiredFlags: [any CommandFlag] { [] }
    static var notes: String { "" }
    static var stopsCleanly: Bool { false }
    static var allFlags: [any CommandFlag] {
        flags + (opensStore ? [Flags.sql, Flags.plans] : []) + [Flags.help]
    }
    /// Whether it may run statements.
    private static var opensStore: Bool { operands.contains { $0.name.hasPrefix(Operand.store.name) } }
}
