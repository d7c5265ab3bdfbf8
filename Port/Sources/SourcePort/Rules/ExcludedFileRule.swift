/// Reports files that a condition for Apple's systems excludes completely. They are not ported.
enum ExcludedFileRule {
    /// Conditions that are false on Linux because of the system or missing Objective-C, not a missing framework.
    private static let conditions = [
        ["!", "os", "(", "Linux", ")"], ["canImport", "(", "ObjectiveC", ")"], ["canImport", "(", "Darwin", ")"],
        ["_runtime", "(", "_ObjC", ")"],
    ]

    static func apply(to work: inout PortingWork) {
        let source = work.source
        let items = work.items.items(in: nil).filter { $0.kind != .importing }
        guard !items.isEmpty, items.allSatisfy({ source.isExcluded[$0.keyword] }) else { return }
        for index in source.tokens.indices where source.isToken(index, "#if") || source.isToken(index, "#elseif") {
            var place = index + 1
            while place < source.tokens.count, !source.startsLine(place) {
                if let found = conditions.first(where: { source.areTokens(from: place, $0) }) {
                    return work.note(
                        at: index,
                        "this condition excludes the whole file on Linux, so it was not ported. Remove \(found.joined()) and port again, unless the file is only for Apple's systems"
                    )
                }
                place += 1
            }
        }
    }
}
