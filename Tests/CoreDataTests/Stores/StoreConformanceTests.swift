import CoreData
import StoreConformance
import TestSupport
import Testing

/// The built-in store types and two defined by a program pass the scenarios for every store type.
@Suite(.needs(.campaign)) struct StoreConformanceTests {
    static let types: [NSPersistentStore.StoreType] = [
        .sqlite, .inMemory, .binary, .xml, PropertyListStore.type, DocumentStore.type,
    ]

    private static func traits(_ type: NSPersistentStore.StoreType) -> StoreConformance.Traits {
        switch type {
        case .sqlite: [.usual, .history]
        case .inMemory: [.constraints, .copyTarget]
        // An incremental store handles constraints itself, and it accepts objects only.
        case DocumentStore.type: .keepsRows
        default: .usual
        }
    }

    @Test(arguments: types, StoreConformance.scenarios)
    func conforms(_ type: NSPersistentStore.StoreType, _ scenario: StoreConformance.Scenario) throws {
        let stack = try StoreConformance(type, traits: Self.traits(type))
        // Only SQLite reads rows in blocks and has indexes over thousands. The others have more than two blocks of a
        // list.
        if type != .sqlite { stack.manyRows = 1_200 }
        // These test stores write slowly, and nothing in them depends on the size.
        if [PropertyListStore.type, DocumentStore.type].contains(type) {
            (stack.manyRows, stack.largestData) = (500, 1 << 18)
        }
        try scenario.run(on: stack)
    }

    /// A skipped scenario is reported as such.
    @Test func aSkippedScenarioIsReportedAsSkipped() throws {
        let scenario = try #require(StoreConformance.scenarios.first { $0.name == "keeps constraints" })
        #expect(
            try scenario.run(on: StoreConformance(DocumentStore.type, traits: .keepsRows)) == .skipped(.constraints))
        #expect(try scenario.run(on: StoreConformance(.inMemory, traits: .constraints)) == .passed)
    }

    /// If a store fails a scenario, the report names the scenario, the result and the line.
    @Test func aFailureReportsWhatWasFound() throws {
        let stack = try StoreConformance(DocumentStore.type, traits: .usual)
        let scenario = try #require(StoreConformance.scenarios.first { $0.name == "keeps constraints" })
        let failure = try #require(throws: ConformanceFailure.self) { try scenario.run(on: stack) }
        #expect(failure.description.hasPrefix("keeps constraints: a save of a second tag of one name: it succeeded"))
        #expect(failure.description.contains("ChangeScenarios.swift:"))
    }
}
