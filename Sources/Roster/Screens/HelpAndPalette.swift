import TerminalKit
import Translation

// Help and command palette. Both are derived from a command table.

extension Browser {
    func showHelp<Target>(_ table: CommandTable<Target>, title: String) {
        layers.push(
            TextPane(
                title: title, lines: table.helpLines(text: TextWidth()),
                closingKeys: [Key(.character("?")), Key(.function(1))]))
    }

    /// Lists the available commands and runs the one that the user picks.
    ///
    /// - Parameter name: the text shown for a command's name.
    func showPalette<Target: AnyObject>(
        _ table: CommandTable<Target>, target: Target, named name: (Command<Target>) -> String = { $0.name }
    ) {
        let commands = table.commands.filter { $0.unavailable(target) == nil && $0.name != "palette" }
        let items = commands.map { (text: "\(name($0)): \(tr($0.help))", detail: $0.keyLabel) }
        layers.push(Picker(title: "Command", items: items) { [unowned target] in commands[$0].action(target) })
    }
}
