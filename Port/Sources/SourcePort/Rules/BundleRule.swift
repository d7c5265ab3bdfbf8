/// `Bundle(for: Note.self)` → `Bundle.module`: the bundle of every class is the program's here, which has no resources of packages.
enum BundleRule {
    /// Members of a bundle that `Bundle.module` answers as well. Its property list is the program's.
    private static let lookups: Set<String> = [
        "url", "urls", "path", "paths", "resourceURL", "resourcePath", "localizedString",
    ]

    static func apply(to work: inout PortingWork) {
        let types = work.items.types().filter { work.isLive($0.keyword) }
        var own: Set<String> = []
        for item in types where !work.source.isToken(item.keyword, "extension") {
            own.insert(TypeHeader(item, work.source).name)
        }
        let isTest = work.imports(["XCTest", "Testing"])
        for index in work.live {
            let source = work.source
            if source.areTokens(from: index, ["(", "for", ":"]), let end = source.partner(index) {
                replace(index, end, own, isTest: isTest, &work)
            } else if ["url", "path"].contains(source.text(index)), isModelLookup(index, source) {
                work.note(
                    at: index, about: source.text(index),
                    ": a package's compiled model is in the bundle of its resources: ask Bundle.module, or let "
                        + "NSPersistentContainer(name:) find it")
            }
        }
    }

    /// - Parameters:
    ///   - opening: the parenthesis of `(for: Note.self)`.
    ///   - own: the types of the file. Others may be of another target, which has other resources.
    ///   - isTest: whether the file is a test, whose resources are often the program's.
    private static func replace(
        _ opening: Int, _ end: Int, _ own: Set<String>, isTest: Bool, _ work: inout PortingWork
    ) {
        let source = work.source
        let isImplicit = source.areTokens(from: opening - 2, [".", "init"]) && source.beginsExpression(opening - 2)
        let first = source.isToken(opening - 1, "init") ? opening - (isImplicit ? 2 : 3) : opening - 1
        let isBundle = source.isToken(first, "Bundle") && work.isName(first)
        let isTyped =
            source.areTokens(from: first - 2, ["bundle", ":"])
            || source.areTokens(from: first - 3, [":", "Bundle"]) && ["=", "{"].contains(source.text(first - 1))
        let type = type(opening + 3..<end, work)
        guard isBundle || isImplicit && type != nil else { return }
        let isLookup = !source.isToken(end + 1, ".") || lookups.contains(source.text(end + 2))
        guard let type, own.contains(type), isLookup, isBundle || isTyped else {
            return work.note(
                at: first,
                "Bundle(for:) is the program's bundle here, without resources: write Bundle.module in the target that has them, and "
                    + "let it export its bundle where another target needs it")
        }
        let name = isBundle ? "Bundle.module" : ".module"
        if work.replace(first, through: end, by: name, otherwise: "Bundle(for:): write \(name)") {
            work.note(
                at: first,
                "Bundle(for:) became Bundle.module, the bundle of this target's resources: where another target has them, let it "
                    + "export its bundle", isLeft: isTest)
        }
    }

    /// `Note` of `Note.self`; the type around it of `Self.self` and `type(of: self)`.
    private static func type(_ tokens: Range<Int>, _ work: PortingWork) -> String? {
        let source = work.source
        let text = tokens.map(source.text).joined()
        if ["Self.self", "type(of:self)"].contains(text) {
            return work.items.path(to: tokens.lowerBound).last { $0.kind == .type }.map { TypeHeader($0, source).name }
        }
        guard tokens.count > 2, source.areTokens(from: tokens.upperBound - 2, [".", "self"]) else { return nil }
        return source.text(tokens.upperBound - 3)
    }

    /// `Bundle.main.url(forResource: "Notes", withExtension: "momd")`, of another bundle than that of the module or of a class.
    private static func isModelLookup(_ index: Int, _ source: SwiftSource) -> Bool {
        guard source.isToken(index - 1, "."), !source.isToken(index - 2, "module"),
            source.partner(index - 2).map({ source.isToken($0 + 1, "for") }) != true,
            source.areTokens(from: index + 1, ["(", "forResource"]), let end = source.partner(index + 1)
        else { return false }
        return (index + 1..<min(end, index + 200)).contains {
            source.kind($0) == .stringText && ["momd", "mom"].contains(source.text($0))
        }
    }
}
