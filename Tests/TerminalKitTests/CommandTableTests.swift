import TerminalKit
import Testing

@MainActor
@Suite struct CommandTableTests {
    final class Target { var log: [String] = [] }

    private func command(_ name: String, _ keys: String, category: String = "Move") -> Command<Target> {
        Command(name, keys: keys, category: category, help: "does \(name)") { $0.log.append(name) }
    }

    @Test func keysFindCommandsAndPrefixesWait() {
        let table = CommandTable([command("fold", "za zc"), command("down", "j <Down>")])
        #expect(table.problems.isEmpty)
        var reader = KeySequenceReader()
        guard case .prefix = reader.read(Key(.character("z")), in: table) else {
            Issue.record("z waits for more")
            return
        }
        #expect(reader.pendingLabel == "z")
        guard case .command(let found) = reader.read(Key(.character("c")), in: table) else {
            Issue.record("zc folds")
            return
        }
        #expect(found.name == "fold")
        #expect(reader.pending.isEmpty)
        guard case .none = reader.read(Key(.character("x")), in: table) else {
            Issue.record("x is nothing")
            return
        }
    }

    @Test func escapeEndsASequence() {
        let table = CommandTable([command("fold", "za")])
        var reader = KeySequenceReader()
        _ = reader.read(Key(.character("z")), in: table)
        _ = reader.read(Key(.escape), in: table)
        #expect(reader.pending.isEmpty)
    }

    @Test func duplicatesAreFound() {
        let table = CommandTable([command("a", "x"), command("b", "x"), command("a", "y"), command("c", "xz")])
        #expect(table.problems.contains { $0.contains("x is bound to “a” and to “b”") })
        #expect(table.problems.contains { $0.contains("two commands are named “a”") })
        #expect(table.problems.contains { $0.contains("begins the keys of another") })
    }

    @Test func helpIsDerivedFromTheTable() {
        let table = CommandTable([command("fold", "za"), command("save", "<C-s>", category: "Edit")])
        let lines = table.helpLines(text: TextWidth()).map { $0.runs.map(\.text).joined() }
        #expect(lines == ["Move", "  za  does fold", "", "Edit", "  ^S  does save"])
    }
}
