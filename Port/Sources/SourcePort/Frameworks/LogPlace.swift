/// Finds code for the system's log that can be put inside a condition: loggers, and statements that only write to the
/// log. A program works without them.
enum LogPlace {
    private static let modules: Set<String> = ["os", "OSLog"]

    /// - Returns: The statement or declaration of the token, and all statements that use it; nil if other code uses it.
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

    /// The statement that calls a method of a logger, as in `logger.info(…)` and `self.logger.info(…)`, or passes it to
    /// `os_log`; nil for other uses of the logger.
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
