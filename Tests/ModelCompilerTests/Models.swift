import Foundation
import ModelFiles

@testable import ModelCompiler

/// Models to generate classes for.
enum Models {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    static let package = folder.deletingLastPathComponent().deletingLastPathComponent()
    /// The sample's model.
    static let worldCup = package.appendingPathComponent("sample-data/WorldCup.xcdatamodeld")
    /// A model with every kind of property and with awkward names.
    static let kinds = folder.appendingPathComponent("Models/Kinds.xcdatamodeld")

    /// The source models of the corpus, each once; empty without the corpus.
    static let corpus: [URL] = {
        let named = ProcessInfo.processInfo.environment["ROSTER_CORPUS"].map { URL(fileURLWithPath: $0) }
        let above = package.deletingLastPathComponent()
        let candidates =
            [named]
            + [above, above.deletingLastPathComponent()].map {
                $0.appendingPathComponent("shared/corpus")
            }
        guard
            let root = candidates.compactMap({ $0 }).first(where: { FileManager.default.fileExists(atPath: $0.path) }),
            let walker = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        else { return [] }
        return walker.compactMap { $0 as? URL }.filter { url in
            let isXML =
                url.pathExtension == "xml" && url.deletingLastPathComponent().lastPathComponent == "model-sources"
            return isXML || (url.lastPathComponent == "contents" && url.path.contains(".xcdatamodel/"))
        }.sorted { $0.path < $1.path }
    }()

    /// Returns a source model with one entity `Team` that has the given contents.
    static func source(team contents: String, attributes: String = "", rest: String = "") throws -> ModelSource {
        let text = """
            <?xml version="1.0"?>
            <model type="com.apple.IDECoreDataModeler.DataModel">
            <entity name="Team" representedClassName="Team" codeGenerationType="class" \(attributes)>
            \(contents)
            </entity>
            \(rest)
            </model>
            """
        let (model, _, lines) = try SourceModelReader.readWithLines(Data(text.utf8), file: "Cup/contents")
        var source = ModelSource(name: "Cup", fileName: "Cup.xcdatamodeld", file: "Cup/contents", model: model)
        source.lines = lines
        return source
    }

    /// Makes a folder for the files of one test. The caller removes it.
    static func temporaryFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("momc-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}
