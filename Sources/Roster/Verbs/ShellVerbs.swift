import RosterCommands

/// A shell with a completion script.
enum Shell: String, CaseIterable {
    case bash, zsh, fish
}

enum CompletionVerb: CommandVerb {
    static let name = "completion"
    static let summary = "Print a shell's completion script for verbs, options, entities and keys."
    static let operands = [Operand(name: "bash|zsh|fish", completion: .words(Shell.allCases.map(\.rawValue)))]
    static let flags: [any CommandFlag] = []
    static let notes = """
        Examples: eval "$(roster completion bash)"
                  roster completion zsh > ~/.zfunc/_roster
                  roster completion fish > ~/.config/fish/completions/roster.fish
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        guard let shell = Shell(rawValue: arguments.operands[0]) else {
            throw CommandError.misuse(
                "no completions for “\(arguments.operands[0])”: name bash, zsh or fish")
        }
        try surroundings.output.write(CompletionScript.text(for: shell))
        try surroundings.output.flush()
        return .done
    }
}

/// The hidden verb that completion scripts call to complete the last word.
enum CompleteVerb: CommandVerb {
    static let name = "complete"
    static let summary = "Print completions of the last word, one per line; @files means any file."
    static let operands = [Operand(name: "WORD", isOptional: true, repeats: true)]
    static let flags: [any CommandFlag] = []
    static let stopsCleanly = false

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        switch WordCompleter(arguments.operands).answer {
        case .files: try surroundings.output.write("@files\n")
        case .words(let words): for word in words { try surroundings.output.write(word + "\n") }
        }
        try surroundings.output.flush()
        return .done
    }
}

enum ManualVerb: CommandVerb {
    static let name = "manual"
    static let summary = "Print the manual page for man -l."
    static let operands: [Operand] = []
    static let flags: [any CommandFlag] = []
    static let notes = "Example: roster manual > roster.1 && man -l roster.1"

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try surroundings.output.write(ManualPage.text())
        try surroundings.output.flush()
        return .done
    }
}
