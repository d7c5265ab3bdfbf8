/// Finds what can go behind a condition where a file writes to the system's log: loggers, and statements that do nothing but log. A
/// program does without them.
enum LogPlace {
    private static let modules: Set<String> = ["os", "OSLog"]

    /// - Returns: the statements and declarations that have to go along with that of the token; `nil` where something else needs them.
    static func regions(around token: Int, of module: String, in work: PortingWork) -> [Range<Int>]? {
        guard modules.contains(module) else { return nil }
        let path = work.items.path(to: token)
        if let type = path.first(where: { $0.kind == .type && $0.header.contains(token) }) {
            return work.source.isToken(type.keyword, "extension") ? [type.tokens] : nil
        }
        guard let item = path.last else { return nil }
        switch item.kind {
        case .statement:
            return item.keyword == token && FrameworkPlace.mayGo(path, work.source) ? [item.tokens] : nil
        case .variable:
            let name = work.source.text(item.keyword + 1)
            guard work.source.isWord(item.keyword + 1) else { return nil }
            var regions = [item.tokens]
            for use in work.live where work.source.isToken(use, name) && !item.tokens.contains(use) {
                guard let statement = statement(loggingBy: use, work) else { return nil }
                regions.append(statement)
            }
            return regions
        default: return nil
        }
    }

    /// The statement that begins with a logger and calls a method of it: `logger.info(…)`, `self.logger.info(…)`.
    private static func statement(loggingBy use: Int, _ work: PortingWork) -> Range<Int>? {
        let source = work.source
        let path = work.items.path(to: use)
        guard let item = path.last, item.kind == .statement else { return nil }
        let isFirst = item.keyword == use
        let isMember = item.keyword + 2 == use && source.isToken(use - 1, ".") && source.isWord(item.keyword)
        let isCalled = (isFirst || isMember) && source.isToken(use + 1, ".")
        let isArgument = ["os_log", "os_signpost"].contains(source.text(item.keyword))
        return (isCalled || isArgument) && FrameworkPlace.mayGo(path, source) ? item.tokens : nil
    }
}
