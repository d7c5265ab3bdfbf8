import CoreData
import StoreConformance
import TestSupport
import Testing

/// The built-in store types, and two of a program's own, do what every store type has to do.
@Suite(.needs(.campaign)) struct StoreConformanceTests {
    static let types: [NSPersistentStore.StoreType] = [
        .sqlite, .inMemory, .binary, .xml, PropertyListStore.type, DocumentStore.type,
    ]

    private static func traits(_ type: NSPersistentStore.StoreType) -> StoreConformance.Traits {
        switch type {
        case .sqlite: [.usual, .history]
        case .inMemory: [.constraints, .copyTarget]
        // Constraints of an incremental store are its own affair, and it takes objects only.
        case DocumentStore.type: .keepsRows
        default: .usual
        }
    }

    @Test(arguments: types, StoreConformance.scenarios)
    func conforms(_ type: NSPersistentStore.StoreType, _ scenario: StoreConformance.Scenario) throws {
        let stack = try StoreConformance(type, traits: Self.traits(type))
        // SQLite alone reads rows by portions and indexes of thousands. Others have more than two portions of a list.
        if type != .sqlite { stack.manyRows = 1_200 }
        // The stores of these tests write slowly; their types have nothing that depends on a size.
        if [PropertyListStore.type, DocumentStore.type].contains(type) {
            (stack.manyRows, stack.largestData) = (500, 1 << 18)
        }
        try scenario.run(on: stack)
    }

    /// A scenario that a store type is not made for says so.
    @Test func aScenarioThatIsNotRunIsToldFromOneThatPassed() throws {
        let scenario = try #require(StoreConformance.scenarios.first { $0.name == "keeps constraints" })
        #expect(
            try scenario.run(on: StoreConformance(DocumentStore.type, traits: .keepsRows)) == .skipped(.constraints))
        #expect(try scenario.run(on: StoreConformance(.inMemory, traits: .constraints)) == .passed)
    }

    /// A store that breaks a promise is told with the scenario, what was found, and the line.
    @Test func aFailureSaysWhatWasFound() throws {
        let stack = try StoreConformance(DocumentStore.type, traits: .usual)
        let scenario = try #require(StoreConformance.scenarios.first { $0.name == "keeps constraints" })
        let failure = try #require(throws: ConformanceFailure.self) { try scenario.run(on: stack) }
        #expect(failure.description.hasPrefix("keeps constraints: a save of a second tag of one name: it succeeded"))
        #expect(failure.description.contains("ChangeScenarios.swift:"))
    }
}
