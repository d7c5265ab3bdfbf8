/// Tells which names of a file come from a framework that is only on Apple's systems.
struct FrameworkNames {
    private let source: SwiftSource
    private let modules: [AbsentModule]
    private let facts: PortFacts

    /// What Apple's Core Data itself has for CloudKit and nothing else. It needs no other import.
    private static let cloudNames: Set<String> = [
        "NSPersistentCloudKitContainerOptions", "NSPersistentCloudKitContainerEvent",
        "NSPersistentCloudKitContainerEventRequest", "NSPersistentCloudKitContainerEventResult",
        "NSPersistentCloudKitContainerSchemaInitializationOptions",
    ]
    private static let cloudMembers: Set<String> = ["cloudKitContainerOptions", "initializeCloudKitSchema"]

    /// Names that other imports bring at Apple's: XCTest's, and those of the header in an app that is for Objective-C.
    private static let namesWithoutImport = [
        "UIApplication": "UIKit", "UIDevice": "UIKit", "UIScreen": "UIKit", "NSApplication": "AppKit",
        "NSWorkspace": "AppKit",
    ]

    /// - Parameter facts: what the program declares itself.
    init(_ source: SwiftSource, _ items: ItemReader, facts: PortFacts) {
        self.source = source
        self.facts = facts
        var modules: [AbsentModule] = []
        for item in items.items(in: nil) where item.kind == .importing {
            if let module = ImportedModule(item, source).absent { modules.append(module) }
        }
        self.modules = modules
    }

    /// The framework of the name that a token is; `nil` for all other tokens.
    func module(at index: Int) -> String? {
        owner(of: index)?.name
    }

    /// What to do where the name is used, if that is not to go behind a condition.
    func advice(at index: Int) -> String? { owner(of: index)?.advice }

    private func owner(of index: Int) -> AbsentModule? {
        guard source.kind(index) == .word || source.isToken(index, "#Preview") else { return nil }
        let word = source.text(index)
        if Self.cloudNames.contains(word) || Self.cloudMembers.contains(word) && source.isToken(index - 1, ".") {
            return AbsentModule.named("CloudKit")
        }
        // Protection of files is no object here.
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

    /// Whether the word is a label of an argument or a key of a dictionary: `Text: 1`. A type after a colon is none.
    private func isLabel(_ index: Int) -> Bool {
        source.isToken(index + 1, ":") && (source.isToken(index - 1, "(") || source.isToken(index - 1, ","))
    }
}

/// What an `import` names.
struct ImportedModule {
    private static let kinds: Set<String> = ["class", "struct", "enum", "protocol", "func", "var", "let", "typealias"]

    /// `UIKit` of `import class UIKit.UIImage`.
    let name: String
    /// True if it names a declaration or a submodule of the module.
    let isPart: Bool

    init(_ item: SourceItem, _ source: SwiftSource) {
        var index = item.keyword + 1
        if Self.kinds.contains(source.text(index)), source.isWord(index + 1) { index += 1 }
        name = source.text(index)
        isPart = index + 1 < item.tokens.upperBound && source.isToken(index + 1, ".")
    }

    var absent: AbsentModule? { AbsentModule.named(name) }
}
