/// Reports code that no longer compiles and that a person has to rewrite.
enum RemarkRule {
    /// Names of called members, and what to use instead.
    private static let calls: [String: String] = [
        "containerURL": "containers of app groups are not available. Give both programs the same path",
        "observe":
            "key-value observation is not available. Use Swift's Observation or a notification of the context",
        "publisher": "import Combine, or use notifications(named:) or the streams of a results controller",
    ]
    private static let noObservation =
        "key-value observation is not available. Remove this, and use Swift's Observation or a notification of the context"
    private static let overrides: [String: String] = [
        "keyPathsForValuesAffectingValue": noObservation, "automaticallyNotifiesObservers": noObservation,
        "observeValue":
            "key-value observation is not available. Use Swift's Observation or a notification of the context",
    ]

    static func apply(to work: inout PortingWork) {
        for index in work.live where work.source.isWord(index) {
            let source = work.source
            let word = source.text(index)
            switch word {
            case "autoreleasepool", "ValueTransformer", "UndoManager":
                if work.isName(index) { work.needsCoreData = true }
            case "NSPredicate" where source.areTokens(from: index + 1, ["(", "format"]),
                "NSSortDescriptor" where source.areTokens(from: index + 1, ["(", "key"]):
                // Foundation has the types, but not these initialisers.
                work.needsCoreData = true
            case "containerURL" where source.isToken(index + 2, "forSecurityApplicationGroupIdentifier"),
                "observe" where source.isToken(index - 1, ".") && source.isToken(index + 2, "\\"):
                remark(calls[word], word, index, &work)
            case "publisher" where source.areTokens(from: index + 1, ["(", "for", ":"]):
                if source.isToken(index + 4, "\\") {
                    remark(calls["observe"], word, index, &work)
                } else if !work.imports(["Combine"]) {
                    remark(calls[word], word, index, &work)
                }
            case "addObserver" where isKeyValueObservation(index, source): remark(calls["observe"], word, index, &work)
            case "observeValue" where source.isToken(index - 1, "func"),
                "keyPathsForValuesAffectingValue" where source.isToken(index - 1, "func"),
                "automaticallyNotifiesObservers" where source.isToken(index - 1, "func"):
                remark(overrides[word], word, index, &work)
            case "objectWillChange" where !work.imports(["Combine", "SwiftUI"]):
                remark("managed objects do not publish changes. Use Swift's Observation", word, index, &work)
            default: break
            }
        }
    }

    private static func remark(_ text: String?, _ word: String, _ index: Int, _ work: inout PortingWork) {
        if let text { work.note(at: index, about: word, ": \(text)") }
    }

    private static func isKeyValueObservation(_ index: Int, _ source: SwiftSource) -> Bool {
        guard source.isToken(index + 1, "("), let end = source.partner(index + 1) else { return false }
        return (index + 1..<min(end, index + 200)).contains {
            source.isToken($0, "forKeyPath") && source.isToken($0 + 1, ":")
        }
    }
}
