import Foundation
import Testing

@testable import CoreData

@Suite struct StoreDescriptionTests {
    @Test func defaultsAreApples() {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/a.sqlite"))
        #expect(description.type == NSSQLiteStoreType)
        #expect(description.shouldMigrateStoreAutomatically)
        #expect(description.shouldInferMappingModelAutomatically)
        #expect(!description.isReadOnly)
        #expect(!description.shouldAddStoreAsynchronously)
        #expect(description.configuration == nil)
        #expect(NSPersistentStoreDescription().url?.path == "/dev/null")
    }

    @Test func membersAreOptions() {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/a.sqlite"))
        description.isReadOnly = true
        description.timeout = 2.5
        description.setValue("MEMORY" as NSString, forPragmaNamed: "temp_store")
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        let options = StoreOptions(description.options)
        #expect(options.isReadOnly)
        #expect(options.timeout == 2.5)
        #expect(options.pragmas.map(\.name) == ["temp_store"])
        #expect(options.pragmas.map(\.value) == ["MEMORY"])
        #expect(options.tracksHistory == true)
        #expect(description.sqlitePragmas["temp_store"] as? NSString == "MEMORY")
        description.setOption(nil, forKey: NSPersistentHistoryTrackingKey)
        #expect(StoreOptions(description.options).tracksHistory == nil)
    }

    @Test func aCopyIsEqualAndIndependent() throws {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/a.sqlite"))
        description.configuration = "Cloud"
        let copy = try #require(description.copy() as? NSPersistentStoreDescription)
        #expect(copy == description)
        copy.isReadOnly = true
        #expect(copy != description)
        #expect(!description.isReadOnly)
    }

    /// Error of a program that was built without the module for servers.
    @Test func withoutTheModuleOneLineShowsHowToBuild() throws {
        let url = try #require(URL(string: "postgresql://me:s3cret@localhost/db?schema=app"))
        let error = StoreEngines.unknown(url)
        #expect(error.code == 134000)
        #expect(
            error.localizedDescription.hasPrefix("Cannot open the store postgresql://me@localhost/db?schema=app: "))
        #expect(error.localizedDescription.contains("--traits PostgreSQL"))
        #expect(!error.localizedDescription.contains("s3cret") && !error.localizedDescription.contains("\n"))
    }

    @Test func swiftValuesAreOptionsToo() {
        #expect(StoreOptions([NSReadOnlyPersistentStoreOption: true]).isReadOnly)
        #expect(StoreOptions([NSReadOnlyPersistentStoreOption: 1]).isReadOnly)
        #expect(!StoreOptions([NSReadOnlyPersistentStoreOption: false]).isReadOnly)
        #expect(StoreOptions([NSPersistentStoreTimeoutOption: 3]).timeout == 3)
    }
}
