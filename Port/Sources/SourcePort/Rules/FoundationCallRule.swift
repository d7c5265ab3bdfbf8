/// Calls of Foundation and XCTest whose method, argument or type differs here:
/// `urls(forResourcesWithExtension:subdirectory:)`, key-value access to user defaults, and waits without a timeout.
enum FoundationCallRule {
    static func apply(to work: inout PortingWork) {
        let defaults = defaults(of: work)
        let isTest = work.imports(["XCTest"])
        for index in work.live where work.source.isToken(index + 1, "(") && work.source.isWord(index) {
            switch work.source.text(index) {
            case "urls": convertURLs(index, &work)
            case "value", "setValue":
                if isDefaults(endingAt: index - 2, defaults, work) { renameAccess(index, &work) }
            case "wait", "fulfillment":
                if isTest { limit(index, &work) }
            default: break
            }
        }
    }

    // MARK: URLs

    /// Converts the URLs that a bundle returns. They are `NSURL` objects here.
    private static func convertURLs(_ index: Int, _ work: inout PortingWork) {
        let source = work.source
        guard source.isToken(index - 1, "."), source.isToken(index + 2, "forResourcesWithExtension"),
            let end = source.partner(index + 1), argument("in", of: index + 1, source) == nil
        else { return }
        let isUnwrapped =
            source.touchesNext(end) && (source.isToken(end + 1, "!") || source.areTokens(from: end + 1, ["?", "."]))
        let last = isUnwrapped ? end + 1 : end
        let conversion = [".", "map", "(", "{", "$0", "as", "URL", "}", ")"]
        if source.areTokens(from: last + 1, isUnwrapped ? conversion : ["?"] + conversion) { return }
        work.insert((isUnwrapped ? "" : "?") + ".map({ $0 as URL })", at: source.tokens[last].range.upperBound)
    }

    // MARK: User defaults

    /// Names of variables in the file that are of type `UserDefaults`, in any scope.
    private static func defaults(of work: PortingWork) -> Set<String> {
        let source = work.source
        var found: Set<String> = [], others: Set<String> = []
        for index in work.live where source.isWord(index) {
            let isVariable = ["let", "var"].contains(source.text(index - 1))
            let isTyped = source.isToken(index + 1, ":")
            guard isVariable || isTyped && source.text(index + 2).first?.isUppercase == true else { continue }
            let isMade = source.isToken(index + 3, "(") || source.areTokens(from: index + 3, [".", "standard"])
            let isDefaults = isTyped || source.isToken(index + 1, "=") && isMade
            if isDefaults, source.isToken(index + 2, "UserDefaults") {
                found.insert(source.text(index))
            } else {
                others.insert(source.text(index))
            }
        }
        return work.facts.declares("UserDefaults") ? [] : found.subtracting(others)
    }

    private static func isDefaults(endingAt index: Int, _ names: Set<String>, _ work: PortingWork) -> Bool {
        let source = work.source
        guard source.isToken(index + 1, ".") else { return false }
        if source.areTokens(from: index - 2, ["UserDefaults", ".", "standard"]), work.isName(index - 2) {
            return !work.facts.declares("UserDefaults")
        }
        let isOwn = work.isName(index) || source.areTokens(from: index - 2, ["self", "."]) && work.isName(index - 2)
        return isOwn && names.contains(source.text(index))
    }

    private static func renameAccess(_ index: Int, _ work: inout PortingWork) {
        let isReading = work.source.isToken(index, "value")
        guard let key = argument("forKey", of: index + 1, work.source), !isReading || key == index + 2 else { return }
        let name = isReading ? "object" : "set"
        work.replace(
            index, through: index, by: name, otherwise: "\(work.source.text(index)) of user defaults: write \(name)")
    }

    // MARK: Waits

    private static func limit(_ index: Int, _ work: inout PortingWork) {
        let source = work.source
        guard ["for", "of"].contains(source.text(index + 2)), source.areTokens(from: index + 3, [":", "["]),
            work.facts.memberTypes[source.text(index) + "("] == nil,
            argument("timeout", of: index + 1, source) == nil, let end = source.partner(index + 1)
        else { return }
        let comma = (index + 5..<end).first { source.isToken($0, ",") && source.parent($0) == index + 1 }
        work.insert(", timeout: .infinity", at: source.tokens[(comma ?? end) - 1].range.upperBound)
    }

    /// Index of an argument's label in the call whose parenthesis is at `opening`; nil if there is no such argument.
    private static func argument(_ label: String, of opening: Int, _ source: SwiftSource) -> Int? {
        guard let end = source.partner(opening) else { return nil }
        return (opening + 1..<end).first {
            source.isToken($0, label) && source.isToken($0 + 1, ":") && source.parent($0) == opening
        }
    }
}
