import Testing

/// Size limits of files and rooms.
@Suite struct CodeSizeTests {
    /// Lines of code per room, without comments and blank lines. A commit that raises a number gives the reason; a
    /// commit that makes a room smaller lowers it.
    private static let budgets = [
        "CoreData": 46_800,
        "CoreDataImport": 1_270,
        "CoreDataPostgreSQL": 300,
        "CoreDataPredicates": 300,
        "ManagedExpansion": 550,
        "ManagedMacros": 150,
        "ModelCompiler": 750,
        "ModelFiles": 5_710,
        "PostgreSQLAccess": 850,
        "PredicateSyntax": 1_150,
        "Roster": 14_730,
        "RosterCommands": 7_200,
        "SQLiteAccess": 1_450,
        "ServerStores": 4_900,
        "StoreConformance": 2_050,
        "TerminalKit": 3_850,
        "Translation": 100,
        "momc": 50,
    ]

    @Test func everyRoomKeepsItsBudget() {
        #expect(Set(Self.budgets.keys) == Set(RoomArrowTests.rooms.keys))
        for (room, budget) in Self.budgets {
            let count = SourceTree.files(below: "Sources/\(room)").reduce(0) { $0 + $1.codeLineCount }
            #expect(count <= budget, "\(room) has \(count) lines of code")
            #expect(count > budget - budget / 10 - 100, "\(room) has \(count) lines of code: lower its budget")
        }
    }

    /// A longer file probably has a second topic.
    @Test func noFileIsLong() {
        for file in SourceTree.files(below: "Sources") {
            #expect(file.codeLineCount <= 450, "\(file.path) has \(file.codeLineCount) lines of code")
        }
    }
}
