import RosterCommands

extension Flags {
    static let everyEntity = Flag<Bool>(
        "all", help: "Generate classes for all entities, also those set to manual code generation.")
}

enum ModelGenerateVerb: CommandVerb {
    static let name = "model generate"
    static let summary = "Generate Swift classes for the entities of a model."
    static let operands = [Operand(name: "MODEL", completion: .files)]
    static let flags: [any CommandFlag] = [Flags.output, Flags.everyEntity]
    static let requiredFlags: [any CommandFlag] = [Flags.output]
    static let notes = """
        MODEL is .xcdatamodeld, .xcdatamodel, .momd or .mom. If FILE ends in .swift, it gets
        all classes; otherwise it is a folder that gets two files per class, as from Xcode.
        In a package, the plugin GenerateModelClasses generates the classes in each build.
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
