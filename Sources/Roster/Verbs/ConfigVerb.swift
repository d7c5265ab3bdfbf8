import CoreData
import Foundation
import RosterCommands

enum ConfigVerb: CommandVerb {
    static let name = "config"
    static let summary = "Print the settings in effect, with the meaning and origin of each."
    static let operands = [Operand(name: "STORE", isOptional: true, completion: .stores)]
    static let flags: [any CommandFlag] = [Flags.model]
    static let notes = """
        Reads $XDG_CONFIG_HOME/roster/config or ~/.config/roster/config, and prints such a
        file. With STORE, also checks the settings of its entities.
        Example: roster config > ~/.config/roster/config
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        let preferences = Preferences.load()
        var problems = preferences.problems
        if let store = arguments.operands.first {
            let model = try StoreWords.model(
                of: StoreLocation(store: store, model: try arguments.value(Flags.model)))
            problems += Self.problems(of: preferences, for: model)
        }
        try surroundings.output.write(PreferencesText(preferences).text)
        try surroundings.output.flush()
        for problem in problems { surroundings.note(problem.message) }
        return problems.isEmpty ? .done : .failed
    }

    /// Returns the entity settings that are invalid for a model, in the order of the file.
    static func problems(of preferences: Preferences, for model: NSManagedObjectModel) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        for (name, settings) in preferences.entities {
            guard let entity = model.entitiesByName[name] else { continue }
            for (key, text) in settings.problems(for: entity) {
                problems.append(ConfigurationProblem(preferences.lines["entity.\(name).\(key)"], text))
            }
        }
        return problems.sorted { ($0.line ?? 0) < ($1.line ?? 0) }
    }
}
