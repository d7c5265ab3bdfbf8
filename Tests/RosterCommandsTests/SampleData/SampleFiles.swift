import Foundation

/// Location of the sample in the package.
enum SampleFiles {
    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("sample-data")
    static var model: String { folder.appendingPathComponent("WorldCup.xcdatamodeld").path }
}
