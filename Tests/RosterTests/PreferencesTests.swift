import Foundation
import TerminalKit
import TestSupport
import Testing

@testable import Roster

/// The configuration file: settings and error messages.
@MainActor
@Suite struct PreferencesTests {
    /// With `env -i HOME=/x`, all files of the program are below `/x`.
    @Test(.needs(.process)) func theHomeOfTheEnvironmentCounts() async {
        await #expect(processExitsWith: .success) {
            for variable in ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] { unsetenv(variable) }
            setenv("HOME", "/x", 1)
            guard BrowserStateFile.userFolder.path == "/x/.local/state/roster" else { exit(3) }
            guard ConfigurationFile.url.path == "/x/.config/roster/config" else { exit(4) }
            guard UserFolder.url("XDG_DATA_HOME", else: ".local/share").path == "/x/.local/share" else { exit(5) }
            // Relative paths are ignored.
            setenv("HOME", "x", 1)
            setenv("XDG_STATE_HOME", "y", 1)
            guard BrowserStateFile.userFolder.path == NSHomeDirectory() + "/.local/state/roster" else { exit(6) }
            setenv("XDG_STATE_HOME", "/y", 1)
            guard BrowserStateFile.userFolder.path == "/y/roster" else { exit(7) }
        }
    }

    @Test func settingsAreApplied() {
        let preferences = Preferences(
            text: """
                # a remark
                theme = high-contrast
                mouse = off
                popup = off

                [keys]
                down = j <C-n>
                copy JSON =
                [keys record]
                close = x
                [keys history]
                close = x
                [keys calendar]
                today = h
                [colors]
                heading = bright-red on #303030 bold underline
                [entity Team]
                columns = teamName, wins
                section = qualifyingZone
                sort = wins:desc
                format firstAppearance = year
                """)
        #expect(preferences.problems == [])
        #expect(preferences.theme.name == "high-contrast" && !preferences.usesMouse && preferences.popupDelay == nil)
        let look = preferences.theme[.heading]
        #expect(look.foreground?.index == 9 && look.background?.index == 236 && look.emphasis == [.bold, .underline])
        let tables = CommandTables(preferences)
        #expect(tables[ListScreen.self].command(named: "down")?.keyLabel == "j  ^N")
        #expect(tables[ListScreen.self].command(named: "copy JSON")?.keys == [])
        #expect(tables[ListScreen.self].problems == [] && tables[DetailScreen.self].problems == [])
        #expect(tables[DetailScreen.self].command(named: "close")?.keyLabel == "x")
        #expect(
            tables[HistoryPane.self].command(named: "close")?.keyLabel == "x" && tables[HistoryPane.self].problems == []
        )
        // The other command has lost the key.
        #expect(tables[CalendarPicker.self].command(named: "today")?.keyLabel == "h")
        #expect(tables[CalendarPicker.self].command(named: "day back")?.keyLabel == "Left  -")
        let team = preferences.entities["Team"]
        #expect(
            team?.columns == ["teamName", "wins"] && team?.section == "qualifyingZone" && team?.sort == "wins:desc")
        #expect(team?.formats == ["firstAppearance": .pattern("%Y")])
    }

    @Test(arguments: [
        ("colour = red", "config:1: unknown key “colour”. Valid keys: theme, mouse, bar, popup"),
        ("\ntheme = pink", "config:2: unknown theme “pink”. Valid themes: terminal, dark, light, high-contrast"),
        ("mouse = perhaps", "config:1: mouse must be on or off, not “perhaps”"),
        ("bar = wide", "config:1: bar must be cell or line, not “wide”"),
        ("popup = soon", "config:1: popup must be milliseconds (0 to 60000) or off, not “soon”"),
        ("mouse", "config:1: “mouse” is not a setting: write key = value"),
        ("[keys\ndown = j", "config:1: invalid heading: write a name in brackets, such as [keys]"),
        ("[mice]\ndown = j", "config:2: unknown heading “mice”"),
        ("[keys calendar]\ntodya = t", "config:2: unknown command “todya”; did you mean today?"),
        ("[keys]\ndwn = j", "config:2: unknown command “dwn”"),
        ("[keys]\ndown = <Hyper>", "config:2: “<Hyper>” is not a key"),
        ("[keys]\ndown = g", "config:2: g (“down”) begins the keys of another command"),
        ("[keys]\ndown = J\nup = J", "config:3: J is already bound to “down”"),
        ("[colors]\nheading = mauve", "config:2: “mauve” is not a colour"),
        ("[colors]\ntitle = red", "config:2: unknown key “title”. Valid keys: text, muted"),
        ("[entity Team]\nsort = wins:up", "config:2: sort key “wins:up”: the direction must be asc or desc"),
        ("[entity Team]\nformat wins = roman", "config:2: “roman” is not a format"),
        ("[entity Team]\nrows = 3", "config:2: unknown key “rows”. Valid keys: columns, section, sort, format KEY"),
    ])
    func aConfigurationErrorIsOneLineAndTheRestApplies(text: String, message: String) {
        let preferences = Preferences(text: text + "\n[entity Venue]\nsection = name")
        #expect(preferences.problems.count == 1)
        #expect(preferences.problems.first?.message.hasPrefix(message) == true, "\(preferences.problems)")
        #expect(preferences.entities["Venue"]?.section == "name")
    }

    /// A key given to another command is removed from its previous command.
    @Test func keysCanChangePlaces() {
        let tables = CommandTables(Preferences(text: "[keys]\ndown = k\nup = j"))
        #expect(tables[ListScreen.self].command(named: "down")?.keyLabel == "k")
        #expect(tables[ListScreen.self].command(named: "up")?.keyLabel == "j")
        #expect(
            CommandTables(Preferences(text: "[keys]\ndown = k"))[ListScreen.self].command(named: "up")?.keyLabel == "Up"
        )
    }

    @Test func footerAndMessagesNameTheKeysOfTheUser() throws {
        let fixture = try Fixture.filled()
        let text = "[keys]\nquit = <C-x>\nhelp = <F3>\ndelete =\n[keys record]\nedit field = <F2>"
        let preferences = Preferences(text: text)
        #expect(preferences.problems == [])
        let driver = BrowserDriver(
            BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", preferences: preferences), width: 120)
        #expect(driver.lines.last?.contains("^X quit") == true && driver.lines.last?.contains("F3 help") == true)
        #expect(driver.lines.last?.contains("delete") == false && driver.lines.last?.contains("q quit") == false)
        driver.keys("q")
        #expect(driver.text.contains("q has no command on this screen; F3 lists the keys"), "\(driver.text)")
        driver.keys("<C-c>")
        #expect(driver.text.contains("^X quits"), "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.lines.last?.contains("F2 edit") == true, "\(driver.text)")
        // Keys for leaving are shown even in a narrow line.
        let narrow = BrowserDriver(
            BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", preferences: preferences), width: 30)
        #expect(narrow.lines.last?.contains("^X quit") == true, "\(narrow.text)")
    }

    @Test func anInvalidSortIsReportedOnce() {
        let entity = Fixture.makeModel().entitiesByName["Team"]
        for text in ["[entity Team]\nsort = wins:up", "[entity Team]\ncolumns = wins"] {
            let problems = Preferences(text: text).entities["Team"].flatMap { team in
                entity.map { team.problems(for: $0) }
            }
            #expect((problems ?? []).isEmpty, "\(problems ?? [])")
        }
    }

    @Test func configPrintsAnEquivalentConfiguration() {
        let text = """
            theme = light
            [keys]
            down = n <lt> <Space>
            [entity Team]
            columns = wins
            format wins = decimals 2
            """
        let preferences = Preferences(text: text)
        let printed = PreferencesText(preferences, environment: [:]).text
        let again = Preferences(text: printed)
        #expect(again.problems == [], "\(printed)")
        #expect(again.theme == preferences.theme && again.entities == preferences.entities)
        let (first, second) = (CommandTables(preferences)[ListScreen.self], CommandTables(again)[ListScreen.self])
        for (left, right) in zip(first.commands, second.commands) { #expect(left.keys == right.keys, "\(left.name)") }
        #expect(printed.contains("From line 1 of") && printed.contains("theme = light"))
    }

    @Test(arguments: [
        ("grouped", 1_234_567 as NSNumber, "1,234,567"), ("grouped", -1234.5, "-1,234.5"), ("grouped", 12, "12"),
        ("decimals 2", 3.14159, "3.14"), ("percent", 0.125, "12.5 %"), ("bytes", 1_250_000, "1.2 MB"),
        ("bytes", 999, "999 B"), ("hex", 255, "0xff"),
    ])
    func numbersAreWrittenAsTheFormatSays(format: String, number: NSNumber, text: String) {
        #expect(ValueFormat(format)?.text(of: number) == text)
        #expect(ValueFormat(format)?.text == format)
    }
}

/// The configuration as the program reads it.
@MainActor
@Suite struct ConfigVerbTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-\(UUID().uuidString)")

    private func run(_ arguments: [String], config: String?) throws -> RosterProcess.Outcome {
        let place = folder.appendingPathComponent("roster")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        if let config { try Data(config.utf8).write(to: place.appendingPathComponent("config")) }
        return try RosterProcess.run(arguments, environment: ["XDG_CONFIG_HOME": folder.path])
    }

    @Test func theSettingsInEffectArePrinted() throws {
        let outcome = try run(["config"], config: "theme = dark\n")
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        #expect(outcome.lines.contains("theme = dark") && outcome.lines.contains("mouse = on"))
        #expect(outcome.output.contains("From line 1 of") && outcome.output.contains("NO_COLOR is set"))
    }

    @Test func withoutAFileTheDefaultsHold() throws {
        let outcome = try run(["config"], config: nil)
        #expect(outcome.status == 0 && outcome.output.contains("these are the defaults"))
        #expect(outcome.lines.contains("down = j <Down>"))
    }

    @Test func errorsAreReportedAndTheRestIsPrinted() throws {
        let outcome = try run(["config"], config: "theme = dark\nmouse = x\n[keys]\nfly = f\n")
        #expect(outcome.status == 1 && outcome.lines.contains("theme = dark"))
        #expect(
            outcome.errorLines.first == "roster: config:2: mouse must be on or off, not “x”"
                && outcome.errorLines.count == 2
        )
        #expect(outcome.errorLines.last?.hasPrefix("roster: config:4: unknown command “fly”") == true)
    }

    @Test func withAStoreTheKeysOfItsEntitiesAreChecked() throws {
        let sample = try SampleFolder()
        let outcome = try run(
            ["config", sample.store], config: "[entity Team]\nsort = winz\ncolumns = teamName, goals\n")
        #expect(outcome.status == 1 && outcome.errorLines.count == 2)
        #expect(outcome.errorLines.first?.hasPrefix("roster: config:2: Team has no property “winz”") == true)
        #expect(outcome.errorLines.last?.hasPrefix("roster: config:3: Team has no property “goals”") == true)
        let direction = try run(["config", sample.store], config: "[entity Team]\nsort = wins:up\n")
        #expect(direction.errorLines == ["roster: config:2: sort key “wins:up”: the direction must be asc or desc"])
    }
}

/// The list with a configuration.
@MainActor
@Suite struct ConfiguredBrowserTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture.filled() }

    private func driver(_ config: String) -> BrowserDriver {
        BrowserDriver(
            BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", preferences: Preferences(text: config)))
    }

    @Test func columnsSectionsAndFormatsAreTheUsers() throws {
        let driver = driver(
            """
            [entity Team]
            columns = wins, teamName, firstAppearance, nonsense
            section = qualifyingZone
            sort = wins:desc
            format firstAppearance = year
            format wins = decimals 1
            """)
        #expect(driver.lines[1].split(separator: " ").prefix(2) == ["Wins↓", "Team"], "\(driver.text)")
        #expect(driver.text.contains("▾ AFC (3)") && driver.text.contains("7.0") && driver.text.contains("1930"))
        #expect(!driver.text.contains("Local name"))
        driver.keys("ge<Down><Down><Enter>")
        #expect(driver.text.contains("Venue"))
    }

    @Test func keysAreTheUsers() {
        let driver = driver("[keys]\ndown = n\nhelp = <F5>")
        let first = driver.selectedLine
        driver.keys("n")
        #expect(driver.selectedLine != first)
        driver.keys("<F5>")
        #expect(driver.text.contains("Keys of the list") && driver.text.contains("n  "))
    }

    @Test func possibleKeysAreShownInABox() throws {
        let driver = driver("popup = 0")
        driver.keys("y")
        try driver.expectGolden("pending-keys")
        driver.keys("<Esc>")
        #expect(!driver.text.contains("copy CSV"))
        let patient = self.driver("popup = 60000")
        patient.keys("y")
        #expect(!patient.text.contains("┌"), "\(patient.text)")
        #expect(patient.browser.nextWake.map { $0 > .now + .seconds(50) } == true)
        let never = self.driver("popup = off")
        never.keys("y")
        #expect(!never.text.contains("┌") && never.browser.nextWake == nil)
    }

    @Test func theBoxNamesTheEntities() {
        let driver = driver("popup = 0")
        driver.keys("g")
        #expect(driver.text.contains("4  Venue") && !driver.text.contains("entity 4"), "\(driver.text)")
        #expect(!driver.text.contains("entity 5"), "\(driver.text)")
        driver.keys("<Esc><C-p>")
        driver.type("entity")
        #expect(driver.text.contains("entity 4 (Venue)") && !driver.text.contains("entity 5"), "\(driver.text)")
        driver.keys("<Esc>g7")
        #expect(driver.text.contains("the store has only 4 entities"), "\(driver.text)")
    }

    @Test func theBoxShowsTheNumberOfOmittedKeys() throws {
        let fixture = try Fixture.filled()
        var options = BrowserOptions(storeURL: fixture.storeURL, entityName: "Team")
        options.preferences = Preferences(text: "popup = 0")
        let driver = BrowserDriver(options, width: 40, height: 12)
        driver.keys("g")
        let hidden = Int(try #require(driver.text.firstMatch(of: #/… (\d+) more/#)).1) ?? 0
        let whole = BrowserDriver(options, width: 40, height: 60)
        whole.keys("g")
        func keys(_ driver: BrowserDriver) -> Int {
            driver.lines.count { $0.hasPrefix("│") && !$0.contains(" more") }
        }
        #expect(!whole.text.contains(" more") && keys(driver) + hidden == keys(whole), "\(driver.text)")
        let wide = BrowserDriver(options, width: 120, height: 24)
        wide.keys("g")
        #expect(!wide.text.contains(" more"), "\(wide.text)")
    }
}
