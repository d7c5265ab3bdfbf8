import Foundation
import Testing

@testable import ModelFiles

@Suite struct SourceModelWriterTests {
    static let sample = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("sample-data/WorldCup.xcdatamodeld")

    /// The sample model is written byte for byte as it is.
    @Test func sampleIsWrittenByteForByte() throws {
        let contents = try SourceModelBundle.contents(of: Self.sample)
        let data = try Data(contentsOf: contents)
        let model = try SourceModelReader.read(data, file: contents.path).model
        let written = SourceModelWriter.write(model)
        #expect(String(decoding: written, as: UTF8.self) == String(decoding: data, as: UTF8.self))
    }

    @Test(.enabled(if: Corpus.isPresent, "no corpus: set ROSTER_CORPUS"), arguments: Corpus.sources)
    func writtenModelsReadBack(_ url: URL) throws {
        let model = try ModelFile.read(url).model
        let written = SourceModelWriter.write(model)
        let again = try SourceModelReader.read(written, file: "written").model
        #expect(normalised(again) == normalised(model), "\(Corpus.name(url))")
    }

    /// Removes what the writer writes in one form and Xcode's versions in several: the type and version of the file,
    /// and an empty or absent identifier.
    private func normalised(_ model: ModelDocument) -> ModelDocument {
        var model = model
        for key in ["type", "documentVersion", "minimumToolsVersion"] { model.editorSettings[key] = nil }
        model.versionIdentifiers.removeAll { $0.isEmpty }
        return model
    }
}
