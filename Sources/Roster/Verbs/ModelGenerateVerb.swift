import RosterCommands

extension Flags {
    static let everyEntity = Flag<Bool>("all", help: "Also for entities whose classes are written by hand.")
}

enum ModelGenerateVerb: CommandVerb {
    static let name = "model generate"
    static let summary = "Generate Swift classes for the entities of a model."
    static let operands = [Operand(name: "MODEL", completion: .files)]
    static let flags: [any CommandFlag] = [Flags.output, Flags.everyEntity]
    static let requiredFlags: [any CommandFlag] = [Flags.output]
    static let notes = """
        MODEL is .xcdatamodeld, .xcdatamodel, .momd or .mom. Into a folder go Xcode's files,
        two for each class; if FILE ends in .swift, it gets all classes.
        In a package the plugin GenerateModelClasses does the same with every build.
        Example: roster model generate App.xcdatamodeld -o Sources/App/Classes
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try ModelGenerateCommand(
            path: arguments.operands[0], output: arguments.required(Flags.output),
            everything: arguments.has(Flags.everyEntity)
        ).run(in: surroundings)
        return .done
    }
}
