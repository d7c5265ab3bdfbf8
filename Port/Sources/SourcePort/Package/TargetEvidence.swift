/// Properties of a target, derived from its Swift source.
struct TargetEvidence {
    /// Modules imported on Linux.
    private(set) var imports: Set<String> = []
    /// Modules imported with `@testable`.
    private(set) var tested: Set<String> = []
    /// True if a type is marked with `@main`, or the file is `main.swift`.
    private(set) var hasEntry = false
    /// True if there is a test of XCTest or Swift Testing.
    private(set) var hasTests = false
    /// True if the target uses `XCUIApplication`, which exists only on Apple's systems.
    private(set) var drivesScreen = false

    /// Creates evidence without files.
    init() {}

    /// - Parameter bytes: Contents of the file after porting. Files that are not Swift are ignored.
    init(_ bytes: [UInt8], name: String) {
        hasEntry = name == "main.swift"
        guard case .source(let source) = SourceReading(bytes) else { return }
        for item in ItemReader(source).items(in: nil)
        where item.kind == .importing && !source.isExcluded[item.keyword] {
            let module = ImportedModule(item, source).name
            imports.insert(module)
            if item.prefix.contains(where: { source.isToken($0, "testable") }) { tested.insert(module) }
        }
        for index in source.tokens.indices where !source.isExcluded[index] {
            if source.areTokens(from: index, ["@", "main"]) { hasEntry = true }
            if source.isToken(index, "XCUIApplication") { drivesScreen = true }
            if source.areTokens(from: index, ["@", "Test"]) || Self.isTestMethod(index, source) { hasTests = true }
        }
        hasTests = hasTests && !imports.isDisjoint(with: ["XCTest", "Testing"])
    }

    private static func isTestMethod(_ index: Int, _ source: SwiftSource) -> Bool {
        source.isToken(index, "func") && source.text(index + 1).hasPrefix("test")
            && source.areTokens(from: index + 2, ["(", ")"])
    }

    mutating func formUnion(_ other: TargetEvidence) {
        imports.formUnion(other.imports)
        tested.formUnion(other.tested)
        hasEntry = hasEntry || other.hasEntry
        hasTests = hasTests || other.hasTests
        drivesScreen = drivesScreen || other.drivesScreen
    }
}
