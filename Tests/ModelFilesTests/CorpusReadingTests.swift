import Foundation
import Testing

@testable import ModelFiles

/// Models written by Apple's tools.
@Suite(.enabled(if: Corpus.isPresent, "no corpus: set ROSTER_CORPUS")) struct CorpusReadingTests {
    @Test(arguments: Corpus.sources)
    func sourceModelReads(_ url: URL) throws {
        let (model, notes) = try ModelFile.read(url)
        #expect(notes.isEmpty, "\(Corpus.name(url)): \(notes.map(\.text))")
        #expect(model.entities.allSatisfy { !$0.name.isEmpty })
    }

    @Test(arguments: Corpus.compiled)
    func compiledModelReads(_ url: URL) throws {
        let (model, notes) = try ModelFile.read(url)
        #expect(!model.entities.isEmpty)
        #expect(notes.isEmpty, "\(Corpus.name(url)): \(notes.map(\.text))")
    }
}
