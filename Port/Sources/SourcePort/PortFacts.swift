/// Facts about all files of a program that porting one of them needs: its classes, and the types that need a framework
/// of Apple's systems.
public struct PortFacts: Sendable {
    private struct Declaration {
        let superclass: String?
        /// `Note` in `@objc(Note)`, or nil.
        let objectiveCName: String?
        /// Names in the type's header that belong to a framework of Apple's, with that framework.
        let candidates: [String: String]
        /// Types that the type's header names: its superclass and protocols.
        let inherited: [String]
        /// True for a class that is not nested and that other files can use.
        let isVisibleClass: Bool
    }

    private var declarations: [String: [Declaration]] = [:]
    /// Types of the program that need a framework of Apple's, with its name.
    private(set) var typesOfFrameworks: [String: String] = [:]
    /// Types of the members of the program's types: of variables by name, and of first parameters by `method(`.
    private(set) var memberTypes: [String: Set<String>] = [:]
    /// Classes that other files pass to `Bundle(for:)`.
    private var bundleClasses: Set<String> = []
    /// String literals of the program that may be names of classes.
    private(set) var texts: Set<String> = []

    /// Creates facts without files.
    private init() {}

    /// - Parameter files: Source files of a program. Files that are not Swift are ignored.
    public init(of files: some Sequence<[UInt8]>) {
        for file in files { add(file) }
        findTypesOfFrameworks()
    }

    /// True if the program declares a type of that name.
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

    /// The Objective-C name of a type; nil if it has none, or if several types have its Swift name.
    func objectiveCName(of type: String) -> String? {
        guard let found = declarations[type], found.count == 1 else { return nil }
        return found[0].objectiveCName
    }

    /// True if porting makes a class export the bundle of its target, because another file passes it to `Bundle(for:)`.
    /// False if several types have the name.
    func exportsBundle(_ type: String) -> Bool {
        guard bundleClasses.contains(type), let found = declarations[type], found.count == 1 else { return false }
        return found[0].isVisibleClass && typesOfFrameworks[type] == nil && memberTypes["resourceBundle"] == nil
    }

    /// The type with that name in Swift or Objective-C, or nil.
    func type(named name: String) -> String? {
        declares(name) ? name : declarations.first { $0.value.contains { $0.objectiveCName == name } }?.key
    }

    /// True if a class inherits from `NSManagedObject`, directly or through classes of the program.
    func isManaged(_ name: String) -> Bool { base(of: name, among: ["NSManagedObject"]) != nil }

    /// The class of `bases` that a class inherits from, directly or through classes of the program; otherwise nil.
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
        // A type of the program hides a framework's type of the same name.
        let own = declaration.candidates.filter { declarations[$0.key] == nil }.min { $0.key < $1.key }
        return own?.value ?? declaration.inherited.lazy.compactMap { typesOfFrameworks[$0] }.first
    }
}

/// The header of a type, such as `public final class Note: NSManagedObject, Identifiable`.
struct TypeHeader {
    /// `class`, `struct`, `extension` …
    let keyword: String
    /// The name without enclosing types.
    let name: String
    /// Superclass and protocols, without module and enclosing types.
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
            // Of `Module.Type`, only the last word is added.
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
