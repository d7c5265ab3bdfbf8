import Testing

/// Rules for every file of `Sources`, except for the dependencies.
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

    @Test func unsafeCodeIsExplained() {
        expectNone("needs a comment with SAFETY: here or at its declaration") { $0.unexplainedUnsafeLines() }
    }

    @Test func uncheckedSendableIsExplained() {
        expectNone("needs a comment with SAFETY: directly above") { $0.unexplainedUncheckedLines() }
    }

    /// Code that reads files checks its arithmetic; see `UncheckedArithmetic.swift`.
    @Test func arithmeticOnNumbersFromFilesIsChecked() throws {
        let files = SourceTree.sourceTexts.filter { file in
            SourceText.readingFolders.contains { file.path.hasPrefix($0) }
        }
        let broken = try files.map { ($0.path, try $0.uncheckedArithmeticLines()) }
        let lines = Dictionary(uniqueKeysWithValues: broken)
        expectNone("calculates with a file's number without a check", in: files) { lines[$0.path] ?? [] }
        for sound in SourceText.soundArithmetic {
            let file = files.first { $0.path == sound.path }
            #expect(file?.content.contains(sound.code) == true, "\(sound.path) has no '\(sound.code)' any more")
        }
        #expect(SourceText.soundArithmetic.count <= 5)
    }

    @Test func publicDeclarationsAreDocumented() {
        expectNone("needs a summary") { $0.undocumentedLines() }
    }

    @Test func throwingDeclarationsDocumentTheirErrors() {
        expectNone("throws, and does not say what") { $0.silentThrowingLines() }
    }
}

/// Each rule finds the lines that break it and no others.
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
        // A distant reason counts only at a declaration that contains the use.
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

    @Test func arithmetic() throws {
        func lines(_ lines: String...) throws -> [Int] {
            try SourceText(path: "", text: lines.joined(separator: "\n")).uncheckedArithmeticLines()
        }
        #expect(try lines("let a = statement.integer(at: 1) + 1", "let b = 2 * statement.integer(at: f(1))") == [0, 1])
        #expect(try lines("f(Int32(try connection.integer(sql)))", "f(UInt(archive.integer(x)))") == [0, 1])
        #expect(try lines("f((try connection.integer(sql) ?? 0) + 1)", "let a = Int(statement.real(at: 1))") == [0, 1])
        #expect(
            try lines("let a = 1 + word(8)", "let a = Int(word(8))", "let a = UInt8(number(bytes, 3))") == [0, 1, 2])
        #expect(
            try lines(
                "func a() {", "    let last = try connection.integer(", "        sql)",
                "    guard let last else { return }",
                "    return last - 1", "}", "func b() {", "    last - 1", "}") == [4])
        #expect(
            try lines(
                "    guard let count = archive.integer(fields[x]) else { return }", "    if many == count * 2 {}",
                "    let a = Int16(count)", "    total += count") == [1, 2])
        #expect(
            try lines(
                "let a = UInt(arguments[1].integer)", "f(Int(arguments[0].real))", "f(1 + arguments[1].integer)",
                "f(arguments[1].integer * 2)", "f(arguments[1].integer)",
                "f(UInt(truncatingIfNeeded: arguments[1].integer))"
            ) == [0, 1, 2, 3])
        #expect(try lines("let time = statement.real(at: 1)", "let a = time + 1", "let b = Int(time)") == [2])
        #expect(
            try lines(
                "let a = Int(clamping: statement.integer(at: 1))", "let b = statement.integer(at: place + 1)",
                "let c = statement.integer(at: 1)", "let d = c &+ 1", "let e = c.addingReportingOverflow(1)",
                "let f = Int(exactly: c)", "let g = try connection.integer(\"SELECT a + 1\" + more)",
                "let h = text + number(of: entity)", "// c + 1", "func integer(at place: Int) -> Int {") == [])
    }

    @Test func errors() {
        #expect(text("/// Reads.", "public func read() throws -> Int {").silentThrowingLines() == [1])
        #expect(
            text("/// Reads.", "///", "/// - Throws: 260.", "public func read() throws {").silentThrowingLines() == [])
        #expect(text("/// Reads.", "open func read(", "    at url: URL", ") throws {").silentThrowingLines() == [1])
        #expect(text("/// Runs.", "public func run(_ body: () throws -> Int) rethrows {").silentThrowingLines() == [])
        #expect(text("/// Runs.", "public var handler: (() throws -> Void)?").silentThrowingLines() == [])
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
