import Foundation
import Testing

/// The table of features in `Documentation/Comparison.md`: each row has tests here, which stand beside it.
@Suite struct FeatureTableTests {
    private static let tests: [String: [String]] = [
        "Sections that fold in place, with counts": ["foldedSections", "foldingHidesRowsAndKeepsTheCursorOnTheHeader"],
        "The section's header stays while scrolling": ["theHeaderOfTheCurrentSectionSticks"],
        "Jump by the section's letter": ["indexLettersJump"],
        "Several sort keys, shown in the titles": ["sortKeysAreAddedReplacedAndTurned"],
        "Search while typing": ["searchingMovesAndGoesBack", "theNearestMatchComesAtOnceAndTheRestIsCounted"],
        "A filter language, checked, with completion": ["filtersThatDoNotFitKeepThePrompt", "filtersNarrowTheStore"],
        "Rows that others change light up live": ["changesOfOtherProgramsAppearWhereTheCursorIs", "deletedRowsFade"],
        "Undo and redo of edits": ["editsAreUndoneAndDoneAgain", "theCursorGoesToWhatUndoBringsBack"],
        "Edit in the cell, or the record in a form": ["formsAndTheirErrors", "aValueIsEditedInItsCell"],
        "Editors by type (yes/no, number, date, relation)": [
            "fieldsAreEditedByTheirType", "aDayIsPickedFromTheCalendar", "relationshipsAreChosenFromAList",
        ],
        "Validation beside the field": ["aFormShowsErrorsAtTheField", "rulesOfTheModelAreSaid"],
        "Marks and bulk edits, with a preview": ["aFieldOfAllMarkedIsSetAfterALook", "rangesPredicatesAndInversion"],
        "Follow relationships and go back": ["recordAndItsRelationships", "relatedRecordsUnfoldInPlace"],
        "A pane with the whole record": ["thePaneFollowsTheCursorBesideOrBeneath"],
        "Columns: choose, resize, order, freeze": [
            "columnsAreHiddenMovedAndWidened", "frozenColumnsStayWhereThereIsNoRoom",
        ],
        "Sums and averages of a column, kept live": ["aggregatesStandInHeadersAndFooterAndFollow"],
        "Histogram, sparkline": [
            "aHistogramCountsWordsAndEnterShowsThem", "aHistogramOfNumbersHasBoundsAndASparkline",
        ],
        "Export and import with progress": ["theListIsExported", "aLongImportSaysHowFarItIsAndEndsOnDemand"],
        "Copy to the terminal's clipboard (OSC 52)": ["whatIsCopiedIsOnTheClipboard", "aTerminalGetsThePlainSequence"],
        "Mouse, which can be turned off": ["theMouseMovesFoldsAndSorts", "settingsAreTaken"],
        "Help of all keys": ["helpListsEveryCommand"],
        "Commands by name": ["namesStandBeforeDescriptionsInThePalette", "commandsOfTheTableGoByTheirNames"],
        "Keys in a configuration file": ["keysAreTheUsers", "settingsAreTaken"],
        "Themes / NO_COLOR": ["everyThemeTellsWhatMattersApart", "theSettingsInEffectArePrinted"],
        "Opens as it was left": ["everythingIsAsItWasLeft"],
        "Read-only mode": ["readOnlyStoresCannotBeChanged", "aStoreThatMayNotBeWrittenIsOfferedReadOnly"],
        "Conflicts with other writers are found and asked about": [
            "conflictsAreSettledFieldByField", "aConflictIsAskedAboutWhenSaving",
        ],
        "Background work, with progress and cancel": [
            "theOldListStaysInUseWhileAFilterIsAtWork", "whatGoesOnCanBeStopped",
            "recordsToRelateAreLookedForBesideTheKeys",
        ],
        "Pipes in and out, picking for scripts": ["recordsOfAPipeAreShownAndPicked", "aScriptAsksWhichRecords"],
        "Verbs for scripts, exit codes": ["misuseIsStatusTwo", "failureIsStatusOne"],
        "Completion for shells": ["bashCompletesByTheProgramItself", "everyShellHasAScript"],
        "Manual page": ["theManualHasEveryVerbFlagAndKey"],
    ]

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The features in the first column of the table.
    private static func features() throws -> [String] {
        let file = root.appendingPathComponent("Documentation/Comparison.md")
        let lines = try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        let table = lines.drop { !$0.hasPrefix("| | roster |") }.prefix { $0.hasPrefix("|") }.dropFirst(2)
        return table.compactMap { $0.split(separator: "|").first?.trimmingCharacters(in: .whitespaces) }
    }

    @Test func eachRowOfTheTableHasItsTests() throws {
        let rows = try Self.features()
        #expect(!rows.isEmpty)
        #expect(Set(rows) == Set(Self.tests.keys), "\(Set(rows).symmetricDifference(Self.tests.keys))")
        var sources = ""
        for folder in ["Tests/RosterTests", "Tests/RosterTests/EndToEnd", "Tests/TerminalKitTests"] {
            let place = Self.root.appendingPathComponent(folder)
            for name in try FileManager.default.contentsOfDirectory(atPath: place.path) where name.hasSuffix(".swift") {
                sources += try String(contentsOf: place.appendingPathComponent(name), encoding: .utf8)
            }
        }
        for (row, names) in Self.tests {
            for name in names { #expect(sources.contains("func \(name)("), "\(row): \(name)") }
        }
    }
}
