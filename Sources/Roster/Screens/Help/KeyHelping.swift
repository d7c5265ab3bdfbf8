import TerminalKit
import Translation

/// A layer in which `?` or F1 lists the keys.
protocol KeyHelping: Layer {
    /// The title of the list, and the keys with their descriptions, in English.
    var keyHelp: (title: String, keys: [(keys: String, help: String)]) { get }
}

extension Form: KeyHelping {
    var keyHelp: (title: String, keys: [(keys: String, help: String)]) {
        (
            "Keys of the form",
            [
                ("Tab S-Tab", "next field, previous field"), ("Enter", "apply the values without saving"),
                ("^S", "apply the values and save"), ("Esc ^C", "close without changing the record"),
                ("^N", "clear the value"), ("S-Up S-Down", "increase or decrease by one (dates: by a day)"),
                ("^T", "open the calendar, in a date field"), ("^O", "edit the text in an external editor"),
                ("Space Right", "choose from a list, in a choice or relationship field"),
            ]
        )
    }
}

extension Browser {
    /// Handles a key without a command: shows the keys of the screen, or reports that the key is unused.
    func explain(_ key: Key) {
        guard let layer = layers.top as? any KeyHelping else {
            return say(
                (layers.top as? any CommandScreen)?.helpKey.map {
                    sentence("\(key.label) has no command on this screen; \($0) lists the keys")
                }
                    ?? sentence("\(key.label) has no command on this screen"))
        }
        let isHelpKey = key == Key(.function(1)) || !layer.acceptsText && key == Key(.character("?"))
        guard isHelpKey else {
            let help = layer.acceptsText ? "F1" : "?"
            return say(sentence("\(key.label) has no command on this screen; \(help) lists the keys"))
        }
        let help = layer.keyHelp
        let text = TextWidth()
        let width = help.keys.map { text.width($0.keys) }.max() ?? 0
        layers.push(
            TextPane(
                title: help.title,
                lines: help.keys.map { item in
                    TextPane.Line(runs: [
                        ("  " + text.padded(item.keys, to: width) + "  ", .key), (tr(item.help), .text),
                    ])
                }, closingKeys: [Key(.character("?")), Key(.function(1))]))
    }
}
