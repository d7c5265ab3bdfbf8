/// `Bundle(for: Note.self)` → `Bundle.module`. On Linux, `Bundle(for:)` returns the main bundle for every class. The
/// main bundle does not contain the resources of packages.
enum BundleRule {
    /// Members of `Bundle` that also work on `Bundle.module`. Its property list is that of the program.
    fileprivate static let lookups: Set<String> = [
        "url", "urls", "path", "paths", "resourceURL", "resourcePath", "localizedString",
    ]

    /// Name of the member that gives other targets access to the bundle of a class's target.
    private static let export = "resourceBundle"

    static func apply(to work: inout PortingWork) {
        let isTest = work.imports(["XCTest", "Testing"])
        let own = ownTypes(work.items)
        for index in work.live {
            if let use = BundleUse(at: index, work.source, work.items) {
                replace(use, own, isTest: isTest, &work)
            } else if ["url", "path"].contains(work.source.text(index)), isModelLookup(index, work.source) {
                work.note(
                    at: index, about: work.source.text(index),
                    ": a package's compiled model is in its resource bundle. Use Bundle.module or "
                        + "NSPersistentContainer(name:)")
            }
        }
        exportBundles(&work)
    }

    /// Classes of other files that this file passes to `Bundle(for:)`.
    static func foreignClasses(in source: SwiftSource, _ items: ItemReader) -> Set<String> {
        let uses = source.tokens.indices.lazy.filter { !source.isExcluded[$0] }
            .compactMap { BundleUse(at: $0, source, items) }
        return Set(uses.filter(\.canBeReplaced).compactMap(\.type)).subtracting(ownTypes(items))
    }

    private static func ownTypes(_ items: ItemReader) -> Set<String> {
        let types = items.types().filter { !items.source.isExcluded[$0.keyword] }
            .filter { !items.source.isToken($0.keyword, "extension") }
        return Set(types.map { TypeHeader($0, items.source).name })
    }

    /// - Parameters:
    ///   - own: Types of the file. Types of other files may belong to another target, with other resources.
    ///   - isTest: True if the file is a test. Tests often use resources of the program.
    private static func replace(_ use: BundleUse, _ own: Set<String>, isTest: Bool, _ work: inout PortingWork) {
        let isOwn = use.type.map(own.contains) ?? false
        guard let type = use.type, use.canBeReplaced, isOwn || work.facts.exportsBundle(type) else {
            return work.note(
                at: use.tokens.lowerBound,
                "Bundle(for:) returns the main bundle, which has no package resources. Use Bundle.module in the target that has "
                    + "them, and export it for other targets")
        }
        let name = isOwn ? (use.isImplicit ? ".module" : "Bundle.module") : "\(type).\(export)"
        guard
            work.replace(
                use.tokens.lowerBound, through: use.tokens.upperBound - 1, by: name,
                otherwise: "Bundle(for:): write \(name)"),
            isOwn
        else { return }
        work.note(
            at: use.tokens.lowerBound,
            "Bundle(for:) became Bundle.module, the resources of this target. If another target has them, let it export its "
                + "bundle", isLeft: isTest)
    }

    /// Adds `extension Note { public static var resourceBundle: Bundle { .module } }` for use in other files.
    private static func exportBundles(_ work: inout PortingWork) {
        let source = work.source
        for item in work.items.items(in: nil) where item.kind == .type && work.isLive(item.keyword) {
            let header = TypeHeader(item, source)
            guard header.keyword == "class", work.facts.exportsBundle(header.name) else { continue }
            let access = ["public", "open"].contains(header.access) ? "public " : ""
            let lines = [
                "", "extension \(header.name) {",
                "    /// The bundle of this target's resources, for other targets.",
                "    \(access)static var \(export): Bundle { .module }", "}", "",
            ]
            let text = lines.joined(separator: source.lineBreak)
            work.insert(source.bytes.last == .newline ? text : source.lineBreak + text, at: source.bytes.count)
            work.note(
                at: item.keyword, about: header.name,
                ": now exports its target's bundle as \(export), which replaces Bundle(for:) in other files",
                isLeft: false)
            if !work.imports(["Foundation", "CoreData", "XCTest"]) { work.needsCoreData = true }
        }
    }

    /// True for a variable of the file that is set to `Bundle.module` or `Bundle(for:)`.
    private static func isOwnBundle(_ index: Int, _ source: SwiftSource) -> Bool {
        source.isWord(index) && !source.isToken(index - 1, ".")
            && source.tokens.indices.contains { place in
                source.isToken(place, source.text(index)) && source.areTokens(from: place + 1, ["=", "Bundle"])
                    && ["(for", ".module"].contains(source.text(place + 3) + source.text(place + 4))
            }
    }

    /// True for a lookup such as `Bundle.main.url(forResource: "Notes", withExtension: "momd")`, except in
    /// `Bundle.module` and `Bundle(for:)`.
    private static func isModelLookup(_ index: Int, _ source: SwiftSource) -> Bool {
        guard source.isToken(index - 1, "."), !source.isToken(index - 2, "module"), !isOwnBundle(index - 2, source),
            source.partner(index - 2).map({ source.isToken($0 + 1, "for") }) != true,
            source.areTokens(from: index + 1, ["(", "forResource"]), let end = source.partner(index + 1)
        else { return false }
        return (index + 1..<min(end, index + 200)).contains {
            source.kind($0) == .stringText && ["momd", "mom"].contains(source.text($0))
        }
    }
}

/// A use of `Bundle(for: Note.self)`, or of `.init(for: Note.self)` where a bundle is expected.
private struct BundleUse {
    let tokens: Range<Int>
    /// The class; nil if it is not named.
    let type: String?
    /// True for `.init(for:)`.
    let isImplicit: Bool
    /// True if the bundle of the class's target can replace it.
    let canBeReplaced: Bool

    /// - Parameter opening: Index of the opening parenthesis.
    init?(at opening: Int, _ source: SwiftSource, _ items: ItemReader) {
        guard source.areTokens(from: opening, ["(", "for", ":"]), let end = source.partner(opening) else { return nil }
        isImplicit = source.areTokens(from: opening - 2, [".", "init"]) && source.beginsExpression(opening - 2)
        let first = source.isToken(opening - 1, "init") ? opening - (isImplicit ? 2 : 3) : opening - 1
        let isBundle = source.isToken(first, "Bundle") && source.isWord(first) && !source.isToken(first - 1, ".")
        let isTyped =
            source.areTokens(from: first - 2, ["bundle", ":"])
            || source.areTokens(from: first - 3, [":", "Bundle"]) && ["=", "{"].contains(source.text(first - 1))
        type = Self.type(opening + 3..<end, source, items)
        guard isBundle || isImplicit && type != nil else { return nil }
        let isLookup = !source.isToken(end + 1, ".") || BundleRule.lookups.contains(source.text(end + 2))
        canBeReplaced = isLookup && (isBundle || isTyped)
        tokens = first..<end + 1
    }

    /// `Note` for `Note.self`; the enclosing type for `Self.self` and `type(of: self)`.
    private static func type(_ tokens: Range<Int>, _ source: SwiftSource, _ items: ItemReader) -> String? {
        let text = tokens.map(source.text).joined()
        if ["Self.self", "type(of:self)"].contains(text) {
            return items.path(to: tokens.lowerBound).last { $0.kind == .type }.map { TypeHeader($0, source).name }
        }
        guard tokens.count > 2, source.areTokens(from: tokens.upperBound - 2, [".", "self"]) else { return nil }
        return source.text(tokens.upperBound - 3)
    }
}
