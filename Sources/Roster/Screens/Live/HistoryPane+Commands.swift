import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The commands of the history. Keys, help and palette all come from here.
extension HistoryPane {
    static let table = CommandTable<HistoryPane>([
        Command("down", keys: "j <Down> <Tab>", category: "History", help: "next line") { $0.move(by: $0.count) },
        Command("up", keys: "k <Up> <S-Tab>", category: "History", help: "line before") { $0.move(by: -$0.count) },
        Command("page down", keys: "<PgDn> <C-f> <C-d> <Space>", category: "History", help: "a page down") {
            $0.move(by: $0.count * $0.height)
        },
        Command("page up", keys: "<PgUp> <C-b> <C-u>", category: "History", help: "a page up") {
            $0.move(by: -$0.count * $0.height)
        },
        Command("newest", keys: "gg <Home>", category: "History", help: "the newest transaction") {
            $0.go(toLine: $0.keys.count ?? 1)
        },
        Command("oldest", keys: "G <End>", category: "History", help: "the oldest that was read") {
            $0.go(toLine: $0.keys.count ?? $0.rows.count)
        },
        Command(
            "open", keys: "<Enter> l <Right>", category: "History", help: "unfold the transaction; open the record"
        ) { $0.open() },
        Command("fold", keys: "za h <Left> + -", category: "History", help: "fold the transaction, or unfold it") {
            $0.toggle()
        },
        Command("unfold all", keys: "zR", category: "History", help: "unfold all transactions") {
            $0.setAllUnfolded(true)
        },
        Command("fold all", keys: "zM", category: "History", help: "fold all transactions") {
            $0.setAllUnfolded(false)
        },
        Command("list as it was", keys: "a", category: "History", help: "the list as it was after the transaction") {
            $0.showPast()
        },
        Command("help", keys: "? <F1>", category: "History", help: "this help") { pane in
            pane.browser.showHelp(pane.browser.tables.history, title: "Keys of the history")
        },
        Command("close", keys: "<Esc> q H <C-c>", category: "History", help: "back to the list") { pane in
            if !pane.stopReading() { pane.close() }
        },
    ])
}
