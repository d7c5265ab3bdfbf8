import Foundation
import SourcePort
import Testing

/// Text that is not Swift, or that no programmer would write.
@Suite struct HostileInputTests {
    @Test(arguments: [
        "let a = \"not closed\n@NSManaged var b: Int\n", "/* @objc /* */ \n@objc class A {}", "let a = \"\"\"\n@objc",
        "let a = #\"x\" \n@objc", "func f( { @objc }", "}\n@objc class A {}", "let a = \"\\(b\n@objc",
        "let `a = 1\n@objc",
        "let a = #/ x\n@objc class A {}", "#if os(iOS)\n@objc class A {}", "#endif\n@objc class A {}",
        "@objc class A {}\r@objc class B {}", "let a = \"\\", "\"\\(", "\"\"\"\n\\(\"", "@objc class A { ] }",
    ])
    func unterminatedSourceIsNotChanged(_ text: String) {
        let file = ported(text)
        #expect(file.edits.isEmpty && file.text == Array(text.utf8))
        #expect(file.notes.count == 1, "\(file.noteLines)")
        #expect(file.diff(path: "a.swift").isEmpty)
    }

    @Test func unterminatedSourceIsReportedWithItsLine() {
        #expect(ported("\n\nlet a = \"open\n").notes.map(\.line) == [3])
        #expect(ported("a\n/* b\n\n").notes.map(\.line) == [2])
        #expect(ported("func f() {\n\n").notes.map(\.line) == [1])
    }

    @Test func aFileThatIsNotTextIsNotChanged() {
        for bytes: [UInt8] in [
            [0xFF, 0xFE, 0x40], [0x40, 0x6F, 0xC3], [0x40, 0x00, 0x41], Array("@objc \u{0}".utf8),
        ] {
            let file = ported(bytes)
            #expect(file.edits.isEmpty && file.text == bytes && file.notes.count == 1)
        }
    }

    @Test(arguments: [
        "", " ", "\n", "@", "#", "#!", "#!/usr/bin/swift\n", "@objc", "@NSManaged", "@NSManaged var", "#keyPath",
        "#keyPath(",
        "#keyPath()", "#selector()", "x as!", "as! NSFetchRequest<", "as! NSFetchRequest<NSFetchRequestResult>",
        "import",
        "import UIKit", "class", "class :", "class A: NSManagedObject {", "init", "@objc(", "dynamic", "CVarArg",
        "as CVarArg",
        "NSPredicate(as CVarArg)", "#if", "#if\n#endif", "#if ((((\n#endif", "\u{FEFF}", "Selector", "Selector(",
        "Selector()", "/", "//",
        "\"\"", "#\"\"#", "mutableSetValue(", "mutableSetValue()", "extension NSFetchRequestResult",
        "NSPersistentCloudKitContainer",
        "class A: NSManagedObject { init() }", "class A: NSManagedObject { init( }",
    ])
    func fragmentsDoNoHarm(_ text: String) {
        let file = ported(text)
        #expect(file.changesOnlyWhatItSays)
        _ = file.diff(path: "a.swift")
    }

    @Test func deepNestingNeedsNoStack() {
        for (opening, closing) in [
            ("(", ")"), ("{", "}"), ("[", "]"), ("/*", "*/"), ("\"\\(", ")\""), ("#if a\n", "\n#endif\n"),
        ] {
            let text =
                String(repeating: opening, count: 10_000) + " @objc "
                + String(repeating: closing, count: 10_000)
            #expect(ported(text).changesOnlyWhatItSays)
        }
        #expect(ported("#if " + String(repeating: "(!", count: 20_000) + "\n#endif").edits.isEmpty)
        #expect(ported("let a: " + String(repeating: "A<", count: 20_000)).edits.isEmpty)
    }

    @Test func aLineOfAMegabyteIsPorted() {
        let padding = String(repeating: "x", count: 500)
        /// Processor time of this thread for porting a line of `count` calls.
        func time(_ count: Int) -> Double {
            let line = String(
                repeating: "foo(#keyPath(A.b), \"@objc \(padding)\", /* x */ 1, bar as CVarArg); ", count: count)
            let began = Self.processorTime
            let file = ported("import CoreData\n\(line)\n")
            let ended = Self.processorTime
            #expect(file.edits.count == count && file.changesOnlyWhatItSays)
            #expect(file.string.contains("foo(\"b\", \"@objc \(padding)\", /* x */ 1, bar as CVarArg)"))
            return ended - began
        }
        let (short, long) = (min(time(125), time(125)), time(2_000))
        // The line is 16 times as long. Quadratic work would take 256 times as long.
        #expect(long < short * 16 * 5, "\(short), \(long)")
    }

    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
