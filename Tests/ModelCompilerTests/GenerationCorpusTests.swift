import ChildProgram
import Foundation
import TestSupport
import Testing

@testable import ModelCompiler

/// All source models in the corpus, which Apple's tools wrote.
@Suite(.needs(.campaign), .enabled(if: !Models.corpus.isEmpty, "the corpus is not on this machine"))
struct GenerationCorpusTests {
    /// Generates all classes of all models and has the compiler parse them.
    @Test func generatedSourcesParse() throws {
        let folder = try Models.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var files: [URL] = []
        var classes = 0
        for (number, url) in Models.corpus.enumerated() {
            let generator = try ClassGenerator(ModelSource.read(url), everything: true)
            let file = folder.appendingPathComponent("Model\(number).swift")
            try generator.writeSingleFile(to: file)
            files.append(file)
            classes += generator.classNames.count
        }
        #expect(files.count > 80 && classes > 150)
        // As one module, because the compiler is started once per file otherwise.
        #expect(try SwiftCompiler.run(["-parse", "-wmo"] + files.map(\.path)) == "")
    }
}

/// The compiler of this toolchain.
enum SwiftCompiler {
    /// Runs `swiftc` and returns its output.
    static func run(_ arguments: [String]) throws -> String {
        try ChildProgram(named: "swiftc", arguments).output
    }
}
