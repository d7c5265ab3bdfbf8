import Foundation
import Testing

/// Articles of the documentation catalogue: their code is compiled and run, and their links have targets.
@Suite struct ArticleTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let catalogue = root.appendingPathComponent("Sources/CoreData/CoreData.docc")

    private static func files(_ folder: URL, _ ending: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == ending }.sorted { $0.path < $1.path }
    }

    /// The lines of a text without indentation and empty lines.
    private static func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private struct Block {
        let article: String
        let language: String
        let lines: [String]
    }

    private static func blocks() throws -> [Block] {
        try files(catalogue, "md").flatMap { url in
            let parts = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "```")
            return stride(from: 1, to: parts.count, by: 2).map { index in
                let language = parts[index].prefix { $0 != "\n" }
                return Block(
                    article: url.lastPathComponent, language: String(language),
                    lines: lines(parts[index].dropFirst(language.count)))
            }
        }
    }

    /// The lines of each Swift block are in a file that the tests compile, or in a manifest of the examples.
    @Test func codeOfArticlesIsCompiled() throws {
        let sources =
            try Self.files(Self.root.appendingPathComponent("Tests/DocumentationTests/Snippets"), "swift")
            + [Self.root.appendingPathComponent("Examples/Notes/Package.swift")]
        let texts = try sources.map { Self.lines(try String(contentsOf: $0, encoding: .utf8)) }
        let blocks = try Self.blocks().filter { $0.language == "swift" }
        #expect(blocks.count > 8)
        for block in blocks {
            let stands = texts.contains { text in
                text.indices.contains { text[$0...].starts(with: block.lines) }
            }
            #expect(stands, "\(block.article): no compiled file has these lines: \(block.lines.first ?? "")")
        }
    }

    /// DocC shows a block without a language as Swift.
    @Test func blocksHaveALanguage() throws {
        for block in try Self.blocks() {
            #expect(["swift", "sh", "text", "xml", "diff"].contains(block.language), "\(block.article)")
        }
    }

    /// The first page links to every article.
    @Test func articlesAreReached() throws {
        let front = try String(contentsOf: Self.catalogue.appendingPathComponent("CoreData.md"), encoding: .utf8)
        for url in try Self.files(Self.catalogue, "md") where url.lastPathComponent != "CoreData.md" {
            #expect(front.contains("<doc:\(url.deletingPathExtension().lastPathComponent)>"))
        }
    }
}
