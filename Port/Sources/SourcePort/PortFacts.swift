/// What has to be known of all files of a program before one of them can be ported: its classes, and which types need a framework
/// that is only on Apple's systems.
public struct PortFacts: Sendable {
    private struct Declaration {
        let superclass: String?
        /// `Note` of `@objc(Note)`.
        let objectiveCName: String?
        /// Names of its header that a framework of Apple's has, each with the framework.
        let candidates: [String: String]
        /// The types that its header names.
        let inherited: [String]
        /// True for a class that other files can name without a type around it.
        let isVisibleClass: Bool
    }

    private var declarations: [String: [Declaration]] = [:]
    /// The types of the program that need a framework of Apple's, with its name.
    private(set) var typesOfFrameworks: [String: String] = [:]
    /// The types of the variables in the program's types, by name, and those of first parameters, by `method(`.
    private(set) var memberTypes: [String: Set<String>] = [:]
    /// Classes whose bundles other files look into.
    private var bundleClasses: Set<String> = []
    /// String literals of the program that could be the name of a class.
    private(set) var texts: Set<String> = []

    /// Of no program.
    private init() {}

    /// - Parameter files: the source of a program. A file that is no Swift declares nothing.
    public init(of files: some Sequence<[UInt8]>) {
        for file in files { add(file) }
        findTypesOfFrameworks()
    }

    /// Whether the program declares a type of that name.
    func declares(_ type: String) -> Bool { declarations[type] != nil }

    private mutating func add(_ bytes: [UInt8]) {
        guard case .source(let source) = SourceReading(bytes) else { return }
        addTexts(of: source)
        let reader = ItemReader(source)
        bundleClasses.formUnion(BundleRule.foreignClasses(in: source, reader))
        let outer = Set(reader.items(in: nil).map(\.keyword))
        let frameworks = FrameworkNames(source, reader, facts: PortFacts())
        for item in reader.types() {
            let header = TypeHeader(item, source)
            if let body = item.body { for member in reader.items(in: body) { addType(of: member, source) } }
            if header.keyword == "extension" { continue }
            var candidates: [String: String] = [:]
            for token in item.tokens.lowerBound..<item.header.upperBound where frameworks.advice(at: token) == nil {
                if let module = frameworks.module(at: token) { candidates[source.text(token)] = module }
            }
            declarations[header.name, default: []].append(
                Declaration(
                    superclass: header.keyword == "class" ? header.inherited.first : nil,
                    objectiveCName: Self.objectiveCName(item, source), candidates: candidates,
                    inherited: header.inherited,
                    isVisibleClass: header.keyword == "class" && outer.contains(item.keyword)
                        && !source.isExcluded[item.keyword]
                        && !["private", "fileprivate"].contains(header.access)))
        }
    }

    private mutating func addType(of member: SourceItem, _ source: SwiftSource) {
        var index = member.keyword + 1
        guard !source.isExcluded[member.keyword] else { return }
        var name = source.text(index)
        switch member.kind {
        case .variable: index += 1
        case .function:
            guard source.isToken(index + 1, "(") else { return }
            name += "("
            index += source.isToken(index + 3, ":") ? 3 : 4
        default: return
        }
        memberTypes[name, default: []].insert(source.isToken(index, ":") ? source.text(index + 1) : "")
    }

    private mutating func addTexts(of source: SwiftSource) {
        for index in source.tokens.indices
        where source.kind(index) == .stringText && source.kind(index - 1) == .stringOpening
            && source.kind(index + 1) == .stringClosing && !source.isExcluded[index]
        {
            let text = source.text(index)
            if text.first?.isUppercase == true, text.utf8.allSatisfy(\.isWordByte) { texts.insert(text) }
        }
    }

    private static func objectiveCName(_ item: SourceItem, _ source: SwiftSource) -> String? {
        item.prefix.first { source.areTokens(from: $0, ["@", "objc", "("]) && source.isToken($0 + 4, ")") }
            .map { source.text($0 + 3) }
    }

    /// The name in Objective-C of the only type of that name, if it has one.
    func objectiveCName(of type: String) -> String? {
        guard let found = declarations[type], found.count == 1 else { return nil }
        return found[0].objectiveCName
    }

    /// True if a class gives the bundle of its target to other files, one of which asks for it. One name must be one class.
    func exportsBundle(_ type: String) -> Bool {
        guard bundleClasses.contains(type), let found = declarations[type], found.count == 1 else { return false }
        return found[0].isVisibleClass && typesOfFrameworks[type] == nil && memberTypes["resourceBundle"] == nil
    }

    /// The type with that name, in Swift or in Objective-C.
    func type(named name: String) -> String? {
        declares(name) ? name : declarations.first { $0.value.contains { $0.objectiveCName == name } }?.key
    }

    /// Whether a class is one of managed objects, as far as the files say so.
    func isManaged(_ name: String) -> Bool { base(of: name, among: ["NSManagedObject"]) != nil }

    /// The class of `bases` from which a class inherits, as far as the files say so.
    func base(of name: String, among bases: some Collection<String>) -> String? {
        var name = name
        for _ in 0..<50 {
            guard let superclass = declarations[name]?.lazy.compactMap(\.superclass).first else { return nil }
            if bases.contains(superclass) { return superclass }
            name = superclass
        }
        return nil
    }

    private mutating func findTypesOfFrameworks() {
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for (name, all) in declarations where typesOfFrameworks[name] == nil {
                guard let module = all.compactMap(module).first else { continue }
                typesOfFrameworks[name] = module
                isGrowing = true
            }
        }
    }

    private func module(of declaration: Declaration) -> String? {
        // A type of the program hides the framework's of the same name.
        let own = declaration.candidates.filter { declarations[$0.key] == nil }.min { $0.key < $1.key }
        return own?.value ?? declaration.inherited.lazy.compactMap { typesOfFrameworks[$0] }.first
    }
}

/// The header of a type: `public final class Note: NSManagedObject, Identifiable`.
struct TypeHeader {
    /// `class`, `struct`, `extension` …
    let keyword: String
    /// Without the types around it.
    let name: String
    /// Its superclass and protocols, each without the module or type around it.
    let inherited: [String]
    let access: String?

    init(_ item: SourceItem, _ source: SwiftSource) {
        keyword = source.text(item.keyword)
        var index = item.keyword + 1
        var name = source.text(index)
        index += 1
        while source.isToken(index, "."), source.isWord(index + 1) {
            name = source.text(index + 1)
            index += 2
        }
        self.name = name.filter { $0 != "`" }
        var inherited: [String] = []
        var isListed = false
        var depth = 0
        while index < item.header.upperBound {
            if source.isToken(index, "<") { depth += 1 }
            if source.isToken(index, ">") { depth -= 1 }
            if source.isToken(index, "where"), depth == 0 { break }
            if source.isToken(index, ":"), depth == 0 { isListed = true }
            // The last word of a path counts.
            if isListed, depth == 0, source.isWord(index), !source.isToken(index - 1, "@"),
                !source.isToken(index + 1, ".")
            {
                inherited.append(source.text(index))
            }
            index = source.next(after: index)
        }
        self.inherited = inherited
        access = item.prefix.lazy.map(source.text).first {
            ["public", "open", "package", "internal", "fileprivate", "private"].contains($0)
        }
    }
}
