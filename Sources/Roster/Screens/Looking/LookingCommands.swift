import CoreData
import RosterCommands
import TerminalKit
import Translation

/// List commands that summarise many records.
enum LookingCommands {
    static var all: [Command<ListScreen>] {
        let category = "Look"
        return [
            Command(
                "histogram", keys: "gb", category: category, help: "count each value of the focused column"
            ) {
                $0.showHistogram()
            },
            Command("pivot", keys: "gp", category: category, help: "count the focused column against another one") {
                $0.askForPivot()
            },
            Command("model map", keys: "gm", category: category, help: "draw the entities and their relationships") {
                list in
                list.browser.layers.push(ModelMapScreen(list: list))
            },
        ]
    }
}

extension ListScreen {
    /// The focused column, if it can be counted. Otherwise shows the reason and returns `nil`.
    private var countedColumn: (keyPath: String, attribute: NSAttributeDescription)? {
        guard let keyPath = countedKeyPath(focusedKey), let attribute = entity.attribute(atKeyPath: keyPath) else {
            browser.say("This column cannot be counted. Press h or l to choose another.", role: .warning)
            return nil
        }
        return (keyPath, attribute)
    }

    func showHistogram() {
        guard let column = countedColumn else { return }
        browser.layers.push(HistogramScreen(list: self, keyPath: column.keyPath, attribute: column.attribute))
    }

    func askForPivot() {
        guard let column = countedColumn else { return }
        let keys = entity.sortableKeyPaths.filter { $0 != column.keyPath }
        guard !keys.isEmpty else { return browser.say("no other column") }
        let items = keys.map {
            (text: PropertyTitle.title($0), detail: $0 == records.settings.sectionKey ? "sections" : "")
        }
        let selected = records.settings.sectionKey.flatMap { keys.firstIndex(of: $0) } ?? 0
        browser.layers.push(
            Picker(
                title: sentence("\(PropertyTitle.title(column.keyPath)) by"), items: items, aliases: keys,
                selected: selected
            ) { [unowned self] index in
                browser.layers.push(PivotScreen(list: self, rows: column.keyPath, columns: keys[index]))
            })
    }
}
