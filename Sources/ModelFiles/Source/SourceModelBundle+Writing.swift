import Foundation

extension SourceModelBundle {
    /// Writes a model as an `.xcdatamodel`, or as the only version of a `.xcdatamodeld`; an existing source model is
    /// replaced.
    ///
    /// - Throws: ``ModelFileError`` if another item exists there, or it cannot be written.
    package static func write(_ model: ModelDocument, to url: URL) throws {
        let contents = SourceModelWriter.write(model.decompiled())
        guard url.pathExtension == "xcdatamodeld" else {
            return try FileReplacement.folder(at: url, isReplaceable: { isVersion($0) }) { [("contents", contents)] }
        }
        let version = url.deletingPathExtension().lastPathComponent + ".xcdatamodel"
        let marker = try PropertyListSerialization.data(
            fromPropertyList: ["_XCCurrentVersionName": version], format: .xml, options: 0)
        try FileReplacement.folder(at: url, isReplaceable: { isOnlyVersion($0, named: version) }) {
            [("\(version)/contents", contents), (".xccurrentversion", marker)]
        }
    }

    private static func isVersion(_ names: [String]) -> Bool {
        names.allSatisfy { ["contents", "elements", "layout"].contains($0) }
    }

    /// True if a model has no version but the one that is written: other versions are never deleted.
    private static func isOnlyVersion(_ names: [String], named version: String) -> Bool {
        names.allSatisfy { $0 == version || $0 == ".xccurrentversion" }
    }
}
