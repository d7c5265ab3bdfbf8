import Foundation
import SourcePort

/// A file of `Pairs`: source for Apple's systems, the ported source, and the expected notes.
struct Pair: CustomStringConvertible {
    let name: String
    let before: String
    let after: String
    /// Lines of the form `line: message`.
    let notes: String

    var description: String { name }

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Pairs")

    static let all: [Pair] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().compactMap { name in
            guard let text = try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8) else {
                return nil
            }
            let parts = text.components(separatedBy: "=== after\n")
            let rest = parts.last?.components(separatedBy: "=== notes\n") ?? []
            return Pair(
                name: name, before: parts[0], after: rest.first ?? "", notes: rest.count > 1 ? rest[1] : "")
        }
    }()
}

/// Ports a program of one file.
func ported(_ text: String) -> PortedFile { ported(Array(text.utf8)) }

func ported(_ bytes: [UInt8]) -> PortedFile { SourcePort.port(bytes, knowing: PortFacts(of: [bytes])) }

extension PortedFile {
    var string: String { String(decoding: text, as: UTF8.self) }
    var noteLines: String { notes.map { "\($0.line): \($0.message)\n" }.joined() }

    /// True if the text differs from the original only by the edits.
    var changesOnlyWhatItSays: Bool {
        let text = text
        var (old, new) = (0, 0)
        for edit in edits {
            let kept = edit.range.lowerBound - old
            let replacement = Array(edit.replacement.utf8)
            guard kept >= 0, edit.range.upperBound <= original.count, new + kept + replacement.count <= text.count,
                original[old..<edit.range.lowerBound] == text[new..<new + kept],
                Array(text[new + kept..<new + kept + replacement.count]) == replacement
            else { return false }
            old = edit.range.upperBound
            new += kept + replacement.count
        }
        return original[old...] == text[new...]
    }
}
