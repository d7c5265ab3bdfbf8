/// Adds the imports that the names in a file need here.
enum ImportRule {
    /// Classes that need `import CoreData`. Foundation declares them here, but they do not work.
    private static let expressionNames: Set<String> = ["NSExpression", "NSComparisonPredicate"]
    private static let networkNames: Set<String> = [
        "URLSession", "URLRequest", "URLSessionConfiguration", "URLSessionDataTask", "URLSessionTask",
        "HTTPURLResponse",
        "URLResponse", "HTTPCookie", "URLProtocol", "URLSessionDelegate", "URLSessionUploadTask",
        "URLSessionDownloadTask",
    ]
    private static let xmlNames: Set<String> = [
        "XMLParser", "XMLParserDelegate", "XMLDocument", "XMLElement", "XMLNode",
    ]

    static func apply(to work: inout PortingWork) {
        let source = work.source
        let imports = work.items.items(in: nil).filter { $0.kind == .importing }
        let live = imports.filter { work.isLive($0.keyword) }
        widen(live, &work)
        for item in live {
            let name = ImportedModule(item, source).name
            if ShimModule.names.contains(name) { work.needsShim(name, at: item.keyword) }
        }
        var names: Set<String> = []
        for index in work.live where work.isName(index) { names.insert(source.text(index)) }
        let modules = Set(live.map { ImportedModule($0, source).name })
        if !names.isDisjoint(with: expressionNames) { work.needsCoreData = true }
        let lacksCoreData = work.needsCoreData && !modules.contains("CoreData")
        var additions: [String] = []
        if lacksCoreData { additions.append("import CoreData") }
        let asides = imports.filter { !work.isLive($0.keyword) && !source.isExcluded[$0.keyword] }
            .map { ImportedModule($0, source) }
        let needsCombine = names.contains { ShimModule.namesInSwiftUI.contains($0) && !work.facts.declares($0) }
        if needsCombine, !modules.contains("Combine"), asides.contains(where: { $0.name == "SwiftUI" }) {
            additions.append("import Combine")
            work.needsShim("Combine", at: 0)
        }
        let lost = asides.contains { $0.absent?.bringsFoundation == true }
        let hasCode = work.live.contains { index in !live.contains { $0.tokens.contains(index) } }
        if lost, hasCode, !lacksCoreData, modules.isDisjoint(with: ["Foundation", "CoreData", "Combine", "XCTest"]) {
            additions.append("import Foundation")
        }
        let everyModule = Set(imports.map { ImportedModule($0, source).name })
        for (module, itsNames) in [("FoundationNetworking", networkNames), ("FoundationXML", xmlNames)] {
            guard !everyModule.contains(module), !names.isDisjoint(with: itsNames) else { continue }
            additions += ["#if canImport(\(module))", "import \(module)", "#endif"]
        }
        add(additions, imports, live, &work)
    }

    /// `import class CoreData.NSManagedObject` → `import CoreData`: macros need it, and there are no submodules here. The
    /// same for `import os.log`.
    private static func widen(_ imports: [SourceItem], _ work: inout PortingWork) {
        var last: SourceItem?
        for item in imports {
            let module = ImportedModule(item, work.source)
            guard module.name == "CoreData" || ShimModule.names.contains(module.name) else { continue }
            defer { last = item }
            guard module.isPart else { continue }
            let whole = "import \(module.name)"
            let message = "import of a part of \(module.name): write \(whole)"
            let isRepeated = last.map { ImportedModule($0, work.source).name == module.name } ?? false
            if item.prefix.isEmpty, isRepeated, last?.tokens.upperBound == item.tokens.lowerBound {
                work.remove(item.keyword, through: item.tokens.upperBound - 1, otherwise: message)
            } else {
                work.replace(
                    item.keyword, through: item.tokens.upperBound - 1, by: whole, otherwise: message)
            }
        }
    }

    /// Adds import lines. `import CoreData` is inserted before the first import that is active on Linux, other lines
    /// after the last import.
    private static func add(
        _ lines: [String], _ imports: [SourceItem], _ live: [SourceItem], _ work: inout PortingWork
    ) {
        guard !lines.isEmpty, !work.source.tokens.isEmpty else { return }
        let source = work.source
        let text = lines.map { $0 + source.lineBreak }.joined()
        let startsWithCoreData = lines[0] == "import CoreData"
        if startsWithCoreData, let first = live.first(where: { source.startsLine($0.tokens.lowerBound) }) {
            work.insert(
                lines[0] + source.lineBreak,
                at: source.lineStart(at: source.tokens[first.tokens.lowerBound].range.lowerBound))
            return add(Array(lines.dropFirst()), imports, live, &work)
        }
        if let last = imports.last(where: { source.startsLine($0.tokens.upperBound) && !source.isExcluded[$0.keyword] })
        {
            let end = source.nextLineStart(at: source.tokens[last.tokens.upperBound - 1].range.upperBound - 1)
            let needsBreak = end > 0 && source.bytes[end - 1] != .newline
            work.insert(needsBreak ? source.lineBreak + text : text, at: end)
        } else {
            let start = source.lineStart(at: source.tokens[0].range.lowerBound)
            work.insert(text + source.lineBreak, at: start)
        }
    }
}
