/// Puts imports of frameworks of Apple's systems inside `#if canImport(…)`, with the code that needs them: a type whose
/// header names a framework's type, a member, or a statement.
enum FrameworkRule {
    static func apply(to work: inout PortingWork) {
        let source = work.source
        let names = FrameworkNames(source, work.items, facts: work.facts)
        var regions: [Region] = []
        let imports = work.items.items(in: nil).filter { $0.kind == .importing }
        for item in imports where work.isLive(item.keyword) {
            let module = ImportedModule(item, source)
            if module.absent != nil { regions.append(Region(module: module.name, tokens: item.tokens)) }
        }
        var covered = 0
        for index in work.live where index >= covered {
            guard let module = names.module(at: index), !imports.contains(where: { $0.tokens.contains(index) }) else {
                continue
            }
            if let advice = names.advice(at: index) {
                if !regions.contains(where: { $0.tokens.contains(index) }) {
                    work.note(at: index, about: source.text(index), ": \(advice)")
                }
                continue
            }
            guard let tokens = FrameworkPlace.tokens(around: index, in: work) else {
                work.note(
                    at: index, about: source.text(index),
                    ": \(module) is not available. Put the code that needs it inside #if canImport(\(module))"
                )
                continue
            }
            regions.append(Region(module: module, tokens: tokens))
            tell(tokens, module, &work)
            covered = tokens.upperBound
        }
        for region in merged(regions, source) { wrap(region, &work) }
    }

    /// Adds a note about a declaration that is now inside a condition, because other code may need it.
    private static func tell(_ tokens: Range<Int>, _ module: String, _ work: inout PortingWork) {
        guard let item = work.items.path(to: tokens.lowerBound).last(where: { $0.tokens == tokens }),
            item.kind != .statement
        else { return }
        let keyword = work.source.text(item.keyword)
        let declared =
            item.kind == .type ? TypeHeader(item, work.source).name : work.source.text(item.keyword + 1)
        let name = work.source.isWord(item.keyword + 1) ? "\(keyword) \(declared)" : keyword
        work.note(
            at: tokens.lowerBound, about: name, ": needs \(module), now inside #if canImport(\(module))",
            isLeft: false)
    }

    private struct Region {
        let module: String
        var tokens: Range<Int>
    }

    /// Sorts regions in file order, and joins regions that overlap or that are adjacent and need the same module.
    private static func merged(_ regions: [Region], _ source: SwiftSource) -> [Region] {
        var result: [Region] = []
        for region in regions.sorted(by: { $0.tokens.lowerBound < $1.tokens.lowerBound }) {
            if let last = result.last, region.tokens.lowerBound < last.tokens.upperBound {
                if region.tokens.upperBound > last.tokens.upperBound {
                    result[result.count - 1].tokens = last.tokens.lowerBound..<region.tokens.upperBound
                }
            } else if let last = result.last, last.module == region.module,
                last.tokens.upperBound == region.tokens.lowerBound
            {
                result[result.count - 1].tokens = last.tokens.lowerBound..<region.tokens.upperBound
            } else {
                result.append(region)
            }
        }
        return result
    }

    private static func wrap(_ region: Region, _ work: inout PortingWork) {
        let source = work.source
        let first = region.tokens.lowerBound, last = region.tokens.upperBound - 1
        let offset = source.tokens[first].range.lowerBound
        guard source.startsLine(first), source.startsLine(last + 1) else {
            return work.note(
                at: first,
                "\(region.module) is not available. Put this code inside #if canImport(\(region.module))")
        }
        let end = source.nextLineStart(at: source.tokens[last].range.upperBound - 1)
        let indentation = source.indentation(at: offset)
        // A comment above an import describes the file and is not included.
        let isImport = work.items.path(to: first).first?.kind == .importing
        let start = isImport ? source.lineStart(at: offset) : source.lineStart(ofCommentsAbove: first)
        work.insert("\(indentation)#if canImport(\(region.module))\(source.lineBreak)", at: start)
        let closing = indentation + "#endif"
        let endsLine = end > 0 && source.bytes[end - 1] == .newline
        work.insert(endsLine ? closing + source.lineBreak : source.lineBreak + closing, at: end)
        work.putAside(region.tokens)
    }
}
