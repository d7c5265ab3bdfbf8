import Foundation

extension SourceModelBundle {
    /// Writes a model as an `.xcdatamodel`, or as the only version of a `.xcdatamodeld`; a source model that stands there is
    /// replaced.
    ///
    /// - Throws: ``ModelFileError`` where something else stands there, or it cannot be written.
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

    /// Whether a model has no version but the one that is written: others are never thrown away.
    private static func isOnlyVersion(_ names: [String], named version: String) -> Bool {
        names.allSatisfy { $0 == version || $0 == ".xccurrentversion" }
    }
}
