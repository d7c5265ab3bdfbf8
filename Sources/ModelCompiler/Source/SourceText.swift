/// Lines of Swift, as they are written.
struct SourceText {
    private(set) var text = ""

    /// A file of Swift with Xcode's heading.
    ///
    /// - Parameters:
    ///   - model: The name of the model's file.
    ///   - isEmpty: Whether nothing follows: an import that nothing needs is a warning.
    init(fileName: String, model: String, isEmpty: Bool = false) {
        add("//")
        add("//  \(fileName)")
        add("//")
        add("//  This file was automatically generated from \(model) and should not be edited.")
        add("//")
        if isEmpty { return }
        add()
        // It brings Foundation with it, which an import of its own would warn of where no type of it is used.
        add("public import CoreData")
    }

    mutating func add(_ line: String = "") { text += line + "\n" }

    /// Adds a blank line, a heading if there is one, then a block: the opening line, the contents one level in, a brace.
    mutating func block(_ opening: String, heading: String? = nil, _ lines: [String]) {
        add()
        if let heading { add("// MARK: \(heading)") }
        add(opening + " {")
        for line in lines { add(line.isEmpty ? "" : "    " + line) }
        add("}")
    }
}
