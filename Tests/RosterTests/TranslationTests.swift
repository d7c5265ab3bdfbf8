import ChildProgram
import Foundation
import TerminalKit
import Testing
import Translation

@testable import Roster

/// Translations: completeness, and their use by the program.
@MainActor
@Suite struct TranslationTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Translations")
    private static let msgfmt = ["/usr/bin/msgfmt", "/usr/local/bin/msgfmt"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// The translations in a catalogue, by their English texts.
    private static func catalog(_ name: String) throws -> [String: String] {
        let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        var result: [String: String] = [:]
        for match in text.matches(of: /msgid "((?:[^"\\]|\\.)*)"\nmsgstr "((?:[^"\\]|\\.)*)"/) {
            func plain(_ text: Substring) -> String {
                String(text.replacing("\\\"", with: "\"").replacing("\\\\", with: "\\"))
            }
            result[plain(match.1)] = plain(match.2)
        }
        return result
    }

    /// The texts in the program's command tables.
    private static var texts: [String] {
        let verbs = VerbTable.verbs + [BrowseVerb.self]
        let flags = verbs.flatMap { $0.allFlags }
        func texts<Screen: CommandScreen>(of screen: Screen.Type) -> [String] {
            screen.table.commands.flatMap { [$0.name, $0.help, $0.category] }
        }
        let commands = CommandTables.screens.flatMap { texts(of: $0) }
        return verbs.map { $0.summary } + flags.map { $0.help } + commands
    }

    @Test func simplifiedChineseHasAllMessagesOfTheTables() throws {
        let catalog = try Self.catalog("zh_CN.po")
        #expect(catalog.count > 250)
        let all = Set(Self.texts)
        let missing = all.filter {
            catalog[$0]?.isEmpty != false && !$0.hasPrefix("entity ")
        }
        #expect(missing.count * 100 <= all.count, "not translated: \(missing.sorted())")
        for (english, chinese) in catalog where !english.isEmpty {
            let places = [english, chinese].map { $0.matches(of: /%(\d\$)?s/).count }
            // This text takes a noun in the singular and in the plural.
            #expect(places[0] == places[1] || english == "%1$s %3$s", "\(english)")
        }
    }

    /// The texts that sources pass to `tr`, `sentence` and message functions, in the form of the catalogue.
    private static func textsOfTheSources() throws -> Set<String> {
        let opening = try NSRegularExpression(
            pattern:
                #"(?:\btr|\bsentence|\bsay|\bProblem|TextPane\.Line)\(\s*"|\b(?:title|label|hint): "|Choice\("[^"]*", ""#
        )
        // Errors of commands use their literals as sentences.
        let saying = try NSRegularExpression(
            pattern: #"(?:\btr|\bsentence|\.misuse|\.failure|\berror|\berrorBefore|\bunexpected)\(\s*""#)
        var result: Set<String> = []
        for (room, opening) in [
            ("Roster", opening), ("TerminalKit", opening), ("RosterCommands", saying), ("Roster", saying),
        ] {
            let place = folder.deletingLastPathComponent().appendingPathComponent("Sources/\(room)")
            let files = FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)
            for case let file as URL in files ?? .init() where file.pathExtension == "swift" {
                let source = try String(contentsOf: file, encoding: .utf8)
                let code = source.split(separator: "\n", omittingEmptySubsequences: false)
                    .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
                for match in opening.matches(in: code, range: NSRange(code.startIndex..., in: code)) {
                    guard let range = Range(match.range, in: code) else { continue }
                    result.insert(literal(code[range.upperBound...]))
                }
            }
        }
        return result.filter { $0.replacing("%s", with: "").contains { $0.isLetter } }
    }

    /// The literal after its first quotation mark, with `%s` for each interpolation.
    private static func literal(_ code: Substring) -> String {
        var result = ""
        var depth = 0
        var isInner = false
        var previous: Character = " "
        for character in code {
            defer { previous = previous == "\\" && character == "\\" ? " " : character }
            if depth > 0 {
                if character == "\"", previous != "\\" { isInner.toggle() }
                if !isInner { depth += character == "(" ? 1 : character == ")" ? -1 : 0 }
            } else if character == "(", previous == "\\" {
                result.removeLast()
                result += "%s"
                depth = 1
            } else if character == "\"", previous != "\\" {
                break
            } else {
                result.append(character)
            }
        }
        return result.replacing("\\\"", with: "\"").replacing("\\\\", with: "\\")
    }

    @Test func simplifiedChineseHasAllMessagesOfTheScreens() throws {
        let catalog = try Self.catalog("zh_CN.po")
        let texts = try Self.textsOfTheSources()
        #expect(texts.count > 250 && texts.contains("changed %s of %s, not saved yet"), "\(texts.count)")
        let missing = texts.filter { catalog[$0]?.isEmpty != false }
        #expect(missing.isEmpty, "not translated: \(missing.sorted())")
    }

    @Test func interpolationsArePlacesOfTheSentence() {
        #expect(sentence("changed \("Wins") of \("100 %s"), \(3) times") == "changed Wins of 100 %s, 3 times")
        #expect(sentence("5 % of it") == "5 % of it")
    }

    private func inChinese(_ arguments: [String], _ locale: String) throws -> RosterProcess.Outcome? {
        guard let msgfmt = Self.msgfmt else { return nil }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let place = folder.appendingPathComponent("zh_CN/LC_MESSAGES")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let catalogue = ["-o", place.appendingPathComponent("roster.mo").path]
        let texts = Self.folder.appendingPathComponent("zh_CN.po").path
        #expect(try ChildProgram(URL(fileURLWithPath: msgfmt), ["--check"] + catalogue + [texts]).status == 0)
        // No program of the machine is found.
        return try RosterProcess.run(
            arguments,
            environment: ["LC_ALL": locale, "LANGUAGE": "", "ROSTER_LOCALE_DIR": folder.path, "PATH": folder.path])
    }

    @Test func helpIsInTheUsersLanguageAndItsColumnsAreStraight() throws {
        guard let outcome = try inChinese(["--help"], "zh_CN.UTF-8") else { return }
        #expect(outcome.status == 0 && outcome.output.contains("用法：") && outcome.output.contains("显示记录的条数。"))
        let measure = TextWidth()
        #expect(outcome.lines.allSatisfy { measure.width($0) <= 80 || $0.contains("roster ") }, "\(outcome.output)")
        // All descriptions of verbs begin in the same column.
        let verbs = outcome.lines.drop { $0 != "命令：" }.dropFirst().prefix(8)
        let starts = verbs.compactMap { line in
            line.firstMatch(of: /^  [a-z]+( [a-z]+)? +/).map { measure.width(String($0.0)) }
        }
        #expect(starts.count >= 5 && Set(starts).count == 1, "\(outcome.output)")
    }

    @Test func errorsAreInTheUsersLanguage() throws {
        let cases = [
            (["list"], 2, "缺少 STORE（参见 roster list --help）"), (["lst", "x", "y"], 2, "没有命令“lst”；是否指 list？"),
            (["count", "/nowhere/x.sqlite", "Team"], 1, "/nowhere/x.sqlite 处没有存储"),
            (["port", "."], 1, "无法运行 roster-port："),
        ]
        for (arguments, status, text) in cases {
            guard let outcome = try inChinese(arguments, "zh_CN.UTF-8") else { return }
            #expect(outcome.status == status && outcome.errorLines.count == 1, "\(outcome.errors)")
            #expect(outcome.errors.contains(text), "\(outcome.errors)")
            // Messages of the C library are in UTF-8 too, in any language.
            #expect(!outcome.errors.contains("???"), "\(outcome.errors)")
        }
    }

    @Test func theFrameworksOwnMessagesAreEnglish() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("roster-\(UUID().uuidString).sqlite")
        try String(repeating: "no store\n", count: 200).write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        guard let outcome = try inChinese(["count", file.path, "Team"], "zh_CN.UTF-8") else { return }
        #expect(outcome.status == 1 && outcome.errors.contains("not an SQLite database"), "\(outcome.errors)")
    }

    @Test func otherLanguagesAreEnglish() throws {
        guard let outcome = try inChinese(["count", "--help"], "xx_YY.UTF-8") else { return }
        #expect(outcome.output.contains("Print the number of records."))
        let plain = try inChinese(["count", "--help"], "C")
        #expect(plain?.output.contains("Usage: roster count") == true)
    }

    @Test func argumentsHaveTheOrderOfTheLanguage() {
        #expect(tr("%s of %s", "1", "2") == "1 of 2")
        #expect(tr("no marks, 100 %") == "no marks, 100 %")
        #expect(tr("%2$s before %1$s, 5 %", "a", "b") == "b before a, 5 %")
    }
}
