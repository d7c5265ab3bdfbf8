/// Lines of generated Swift.
struct SourceText {
    private(set) var text = ""

    /// A Swift file with Xcode's header.
    ///
    /// - Parameters:
    ///   - model: The name of the model's file.
    ///   - isEmpty: True if nothing follows, since an unused import causes a warning.
    init(fileName: String, model: String, isEmpty: Bool = false) {
        add("//")
        add("//  \(fileName)")
        add("//")
        add("//  This file was automatically generated from \(model) and should not be edited.")
        add("//")
        if isEmpty { return }
        add()
        // Re-exports Foundation; importing that separately causes a warning if none of its types is used.
        add("public import CoreData")
    }

    mutating func add(_ line: String = "") { text += line + "\n" }

    /// Adds a blank line, a heading if there is one, then a block: the opening line, the indented contents, a brace.
    mutating func block(_ opening: String, heading: String? = nil, _ lines: [String]) {
        add()
        if let heading { add("// MARK: \(heading)") }
        add(opening + " {")
        for line in lines { add(line.isEmpty ? "" : "    " + line) }
        add("}")
    }
}
