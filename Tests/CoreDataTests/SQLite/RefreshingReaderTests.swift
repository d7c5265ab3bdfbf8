import Foundation
import Testing

@testable import CoreData

@Suite struct RefreshingReaderTests {
    /// A change during the opening may have been read or not, so the next read opens the file again.
    @Test func aChangeDuringTheOpeningIsSeen() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
        try Data([1]).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let file = try StoreFile(url: url, options: StoreOptions(nil), isReadOnly: true)
        var reader = RefreshingReader()
        reader.willOpen(file)
        #expect(!reader.mustReopen && reader.openings == 1)
        try Data([1, 2]).write(to: url)
        #expect(reader.mustReopen)
        reader.willOpen(file)
        #expect(!reader.mustReopen && reader.openings == 2)
    }
}
