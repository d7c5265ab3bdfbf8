/// Finds names of a file that belong to a framework of Apple's systems.
struct FrameworkNames {
    private let source: SwiftSource
    private let modules: [AbsentModule]
    private let facts: PortFacts

    /// Names for CloudKit in Apple's Core Data. They need no other import.
    private static let cloudNames: Set<String> = [
        "NSPersistentCloudKitContainerOptions", "NSPersistentCloudKitContainerEvent",
        "NSPersistentCloudKitContainerEventRequest", "NSPersistentCloudKitContainerEventResult",
        "NSPersistentCloudKitContainerSchemaInitializationOptions",
    ]
    private static let cloudMembers: Set<String> = ["cloudKitContainerOptions", "initializeCloudKitSchema"]

    /// Names that other modules import on Apple's systems, such as XCTest and an app's bridging header.
    private static let namesWithoutImport = [
        "UIApplication": "UIKit", "UIDevice": "UIKit", "UIScreen": "UIKit", "NSApplication": "AppKit",
        "NSWorkspace": "AppKit",
    ]

    /// - Parameter facts: Facts about the program's own declarations.
    init(_ source: SwiftSource, _ items: ItemReader, facts: PortFacts) {
        self.source = source
        self.facts = facts
        var modules: [AbsentModule] = []
        for item in items.items(in: nil) where item.kind == .importing {
            if let module = ImportedModule(item, source).absent { modules.append(module) }
        }
        self.modules = modules
    }

    /// The framework that a token's name belongs to, or nil.
    func module(at index: Int) -> String? {
        owner(of: index)?.name
    }

    /// Advice to print for code that uses the name; nil if no framework has the name, or if the rule puts the code
    /// inside a condition.
    func advice(at index: Int) -> String? { owner(of: index)?.advice }

    private func owner(of index: Int) -> AbsentModule? {
        guard source.kind(index) == .word || source.isToken(index, "#Preview") else { return nil }
        let word = source.text(index)
        if Self.cloudNames.contains(word) || Self.cloudMembers.contains(word) && source.isToken(index - 1, ".") {
            return AbsentModule.named("CloudKit")
        }
        // Here, `FileProtectionType` is not an object.
        if word == "FileProtectionType", source.isToken(index + 3, "as") { return AbsentModule(name: "Darwin") }
        if source.isToken(index, "#Preview") { return modules.first { $0.name == "SwiftUI" } }
        guard !source.isToken(index - 1, "."), !isLabel(index) else { return nil }
        if let module = modules.first(where: { $0.name == word }), source.isToken(index + 1, ".") {
            let member = source.text(index + 2)
            return module.has(member) || member.first?.isUppercase == true ? module : nil
        }
        if facts.declares(word) { return facts.typesOfFrameworks[word].flatMap(AbsentModule.named) }
        return modules.first { $0.has(word) } ?? Self.namesWithoutImport[word].flatMap(AbsentModule.named)
    }

    /// True if the word is an argument label or the key of a dictionary, as in `(Text: 1)`.
    private func isLabel(_ index: Int) -> Bool {
        source.isToken(index + 1, ":") && (source.isToken(index - 1, "(") || source.isToken(index - 1, ","))
    }
}

/// The module of an `import`.
struct ImportedModule {
    private static let kinds: Set<String> = ["class", "struct", "enum", "protocol", "func", "var", "let", "typealias"]

    /// `UIKit` in `import class UIKit.UIImage`.
    let name: String
    /// True if the import names a declaration or a submodule, not the whole module.
    let isPart: Bool

    init(_ item: SourceItem, _ source: SwiftSource) {
        var index = item.keyword + 1
        if Self.kinds.contains(source.text(index)), source.isWord(index + 1) { index += 1 }
        name = source.text(index)
        isPart = index + 1 < item.tokens.upperBound && source.isToken(index + 1, ".")
    }

    var absent: AbsentModule? { AbsentModule.named(name) }
}
