import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The commands of the history. Keys, help and palette are derived from them.
extension HistoryPane {
    static let keysName = "history"
    static let keysRemark = "The keys of the history (H)."
    static let table = CommandTable(moving + reading)
    var commands: CommandTable<HistoryPane> { browser.tables[HistoryPane.self] }

    private static let moving = Command<HistoryPane>.moving(
        "History", next: "next line", previous: "previous line", first: "newest transaction",
        last: "oldest loaded transaction", ends: ("newest", "oldest"), tab: true, space: true)

    private static let reading: [Command<HistoryPane>] = [
        Command(
            "open", keys: "<Enter> l <Right>", category: "History", help: "unfold the transaction, or open the record"
        ) { $0.open() },
        Command("fold", keys: "za h <Left> + -", category: "History", help: "fold or unfold the transaction") {
            $0.toggle()
        },
        Command("unfold all", keys: "zR", category: "History", help: "unfold all transactions") {
            $0.setAllUnfolded(true)
        },
        Command("fold all", keys: "zM", category: "History", help: "fold all transactions") {
            $0.setAllUnfolded(false)
        },
        Command("past list", keys: "a", category: "History", help: "show the list as of this transaction") {
            $0.showPast()
        },
        Command("help", keys: "? <F1>", category: "History", help: "this help") { pane in
            pane.browser.showHelp(pane.commands, title: "Keys of the history")
        },
        Command("close", keys: "<Esc> q H <C-c>", category: "History", help: "back to the list") { pane in
            if !pane.stopReading() { pane.close() }
        },
    ]
}
