import Testing

/// What every file of `Sources` keeps to, beside the arrows.
@Suite struct SourceRuleTests {
    private func expectNone(
        _ rule: String, in files: [SourceText] = SourceTree.sourceTexts, _ lines: (SourceText) -> [Int]
    ) {
        #expect(!files.isEmpty)
        for file in files {
            for number in lines(file).prefix(5) {
                let text = file.line(number).drop { $0 == " " }
                Issue.record("\(file.path):\(number + 1) \(rule): \(text)")
            }
        }
    }

    @Test func functionsAreShort() {
        expectNone("begins a function of more than 80 lines") { $0.longFunctions(limit: 80) }
    }

    @Test func unsafeCodeSaysWhyItIsSound() {
        expectNone("needs a comment with SAFETY: here or at its declaration") { $0.unexplainedUnsafeLines() }
    }

    @Test func uncheckedSendableSaysWhyItIsSound() {
        expectNone("needs a comment with SAFETY: directly above") { $0.unexplainedUncheckedLines() }
    }

    @Test func commentsNameTheActorAndTheObject() {
        let others = SourceTree.texts(below: "Sources", ["c", "h", "modulemap"])
        expectNone("says not who or what", in: SourceTree.sourceTexts + others) { $0.vagueLines() }
    }

    @Test func documentsNameTheActorAndTheObject() {
        let names = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "DIVERGENCES.md"]
        let files = names.compactMap(SourceTree.text(of:))
        #expect(files.count == names.count)
        let articles =
            SourceTree.texts(below: "Documentation", ["md"])
            + SourceTree.texts(below: "Sources/CoreData/CoreData.docc", ["md"])
        expectNone("says not who or what", in: files + articles) { $0.vagueLines(inDocument: true) }
    }

    @Test func publicDeclarationsAreDocumented() {
        expectNone("needs a summary") { $0.undocumentedLines() }
    }
}

/// That each rule finds what breaks it, and nothing else.
@Suite struct SourceRuleSampleTests {
    private func text(_ lines: String...) -> SourceText {
        SourceText(path: "Sample.swift", text: lines.joined(separator: "\n"))
    }

    @Test func longFunctions() {
        func function(_ count: Int, _ head: String...) -> SourceText {
            let body = Array(repeating: "        step()", count: count)
            return SourceText(
                path: "",
                text: (["struct Sample {"] + head + body + ["    }", "    var next = 0", "}"]).joined(separator: "\n"))
        }
        #expect(function(80, "    func long() {").longFunctions(limit: 80) == [1])
        #expect(function(78, "    func long() {").longFunctions(limit: 80) == [])
        #expect(function(78, "    private init(", "        _ one: Int", "    ) {").longFunctions(limit: 80) == [1])
        #expect(function(80, "    var long: Int {").longFunctions(limit: 80) == [1])
        #expect(function(80, "    var none: Int").longFunctions(limit: 80) == [])
        #expect(text("protocol P {", "    func none()", "    func other()", "}").longFunctions(limit: 2) == [])
    }

    @Test func unsafeCode() {
        let use = "        let word = unsafeBitCast(text, to: UInt.self)"
        #expect(text("func read() {", use, "}").unexplainedUnsafeLines() == [1])
        #expect(text("// SAFETY: one word.", "func read() {", use, "}").unexplainedUnsafeLines() == [])
        #expect(
            text(
                "struct A {", "    // SAFETY: one word.", "    @inline(__always)", "    func read() {", use, "    }",
                "}"
            )
            .unexplainedUnsafeLines() == [])
        // A reason far away counts at a declaration that holds the use, and nowhere else.
        let gap = Array(repeating: "    let a = 1", count: 20).joined(separator: "\n")
        #expect(
            text("// SAFETY: one word.", "struct A {", gap, "    func read() {", use, "    }", "}")
                .unexplainedUnsafeLines() == [])
        #expect(
            text("// SAFETY: one word.", "struct A {", gap, "}", "func read() {", use, "}").unexplainedUnsafeLines()
                == [24])
        #expect(
            text("// SAFETY: a lock.", "final class A: @unchecked Sendable {", use, "}").unexplainedUnsafeLines() == [2]
        )
        #expect(
            text("// SAFETY: a lock.", "// SAFETY: a word.", "final class A: @unchecked Sendable {", use, "}")
                .unexplainedUnsafeLines() == [])
        #expect(text("// unsafeBitCast is not used.", "let a = 1 // nor Unmanaged").unexplainedUnsafeLines() == [])
    }

    @Test func uncheckedSendable() {
        #expect(text("/// A box.", "final class A: @unchecked Sendable {}").unexplainedUncheckedLines() == [1])
        #expect(
            text("/// A box.", "// SAFETY: a lock.", "final class A: @unchecked Sendable {}")
                .unexplainedUncheckedLines() == [])
        #expect(
            text("// SAFETY: a lock.", "", "final class A: @unchecked Sendable {}").unexplainedUncheckedLines() == [2])
        #expect(
            text("// SAFETY: a lock.", "final class A:", "    B, @unchecked Sendable", "{}").unexplainedUncheckedLines()
                == [])
    }

    @Test func words() {
        #expect(text("// Nobody holds it.", "let nobody = 1", "let a = 1 // mostly").vagueLines() == [0, 2])
        #expect(text("// An antibody, and the utmost.").vagueLines() == [])
        #expect(text("What stands there.", "It is whoever's.").vagueLines(inDocument: true) == [0, 1])
    }

    @Test func documentation() {
        #expect(
            text("public struct A {", "    public let b = 1", "    open func c() {}", "}").undocumentedLines() == [
                0, 1, 2,
            ])
        #expect(text("/// A.", "@frozen", "public struct A {}").undocumentedLines() == [])
        #expect(text("/// A.", "// SAFETY: immutable.", "public struct A {}").undocumentedLines() == [])
        #expect(
            text("@inlinable public static func a() {}", "open private(set) var b = 1").undocumentedLines() == [0, 1])
        #expect(text("open override func a() {}", "public extension A {}", "open.append(1)").undocumentedLines() == [])
        #expect(
            text("public static func == (a: A, b: A) -> Bool { true }", "internal var a = 1").undocumentedLines() == [])
    }
}
