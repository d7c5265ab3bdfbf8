import Foundation
import SourcePort
import Testing

/// Randomly damaged source.
@Suite struct MutationTests {
    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) << 32 | (state &* 2_685_821_657_736_338_717) >> 32
        }
    }

    private static let fragments: [[UInt8]] = [
        "\"", "\"\"\"", "#\"", "\"#", "\\(", "(", ")", "{", "}", "[", "]", "/*", "*/", "//", "/", "\n", "\r\n", "\r",
        "@", "@objc", "@objc(",
        "@NSManaged ", "#keyPath(", "#if os(iOS)\n", "#else\n", "#endif\n", "import UIKit\n",
        "as! NSFetchRequest<NSFetchRequestResult>",
        "UIColor", "class A: NSManagedObject {", "init(", "override ", "dynamic ", ".", ",", ";", "`", "\\", "\u{0}",
        "é", "<", ">",
        "NSExpression", " as CVarArg", "#selector(", "var ", "func ", "=", "->",
    ].map { Array($0.utf8) }

    /// Number of mutations for each seed; fewer if `Scripts/test` runs without campaigns.
    private static let count =
        ProcessInfo.processInfo.environment["ROSTER_TESTS"]?.contains("campaign") ?? true ? 1_250 : 250

    /// Messages of failures contain the seed.
    @Test(arguments: [UInt64](0..<8))
    func nothingCrashesAndNothingElseChanges(_ part: UInt64) {
        let seed = part &* 7919 &+ 17
        var random = Generator(state: seed)
        let sources = Pair.all.flatMap { [Array($0.before.utf8), Array($0.after.utf8)] }.filter { $0.count < 800 }
        let facts = PortFacts(of: sources)
        var changed = 0
        for number in 0..<Self.count {
            guard var bytes = sources.randomElement(using: &random) else { return }
            for _ in 0..<Int.random(in: 1...6, using: &random) { mutate(&bytes, &random) }
            let isWhole = number % 10 == 0
            let file = SourcePort.port(bytes, knowing: isWhole ? PortFacts(of: [bytes]) : facts)
            #expect(file.changesOnlyWhatItSays, "seed \(seed), mutation \(number)")
            // The diff is empty if and only if the text is unchanged.
            let diff = file.diff(path: "a.swift")
            #expect(diff.isEmpty == (file.text == bytes), "seed \(seed), mutation \(number)")
            if !file.edits.isEmpty { changed += 1 }
            guard isWhole else { continue }
            let again = SourcePort.port(file.text, knowing: PortFacts(of: [file.text]))
            #expect(
                again.edits.isEmpty,
                "seed \(seed), mutation \(number): \(again.diff(path: "a.swift"))of:\n\(String(decoding: bytes, as: UTF8.self))"
            )
        }
        // Some mutated files can still be ported.
        #expect(changed > Self.count / 12)
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout Generator) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes.insert(contentsOf: Self.fragments.randomElement(using: &random) ?? [], at: place)
        case 1: bytes.removeSubrange(place..<min(place + Int.random(in: 0...12, using: &random), bytes.count))
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
        case 3: bytes.removeSubrange(place...)
        default:
            let end = min(place + Int.random(in: 0...60, using: &random), bytes.count)
            bytes.insert(contentsOf: Array(bytes[place..<end]), at: Int.random(in: 0...bytes.count, using: &random))
        }
    }
}
