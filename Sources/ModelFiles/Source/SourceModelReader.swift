import Foundation

/// Reads the `contents` file of a source model.
///
/// Everything that Xcode's versions are known to write is read; what is not known is noted and passed over. What
/// contradicts itself is an error with its line.
package struct SourceModelReader {
    let file: String
    var model = ModelDocument()
    var notes: [ModelNote] = []
    /// Where things stand, by the paths of ``ModelProblems``.
    var lines: [String: Int] = [:]

    /// Reads the bytes of a `contents` file.
    ///
    /// - Parameter file: The path for messages.
    /// - Returns: The model, and what was passed over.
    /// - Throws: ``ModelFileError``.
    package static func read(_ data: Data, file: String) throws -> (model: ModelDocument, notes: [ModelNote]) {
        let (model, notes, _) = try readWithLines(data, file: file)
        return (model, notes)
    }

    /// Reads the bytes of a `contents` file as ``read(_:file:)`` does.
    ///
    /// - Returns: With the model and what was passed over the lines of entities (`Team`), properties (`Team.wins`), fetch
    ///   indexes, and of what else has a name.
    package static func readWithLines(
        _ data: Data, file: String
    ) throws -> (model: ModelDocument, notes: [ModelNote], lines: [String: Int]) {
        var reader = SourceModelReader(file: file)
        let root = try XMLTree.parse(data, file: file)
        try reader.readModel(root)
        if let problem = ModelProblems.find(in: reader.model).first {
            throw ModelFileError(
                .malformed, file: file, line: reader.lines[problem.path] ?? root.line, problem.reason)
        }
        return (reader.model, reader.notes, reader.lines)
    }

    private init(file: String) { self.file = file }

    private mutating func readModel(_ tree: XMLTree) throws {
        guard tree.name == "model" else {
            throw ModelFileError(
                .malformed, file: file, line: tree.line, "the root element is '\(tree.name)', not 'model'")
        }
        model.editorSettings = tree.attributes
        if let identifier = model.editorSettings.removeValue(forKey: "userDefinedModelVersionIdentifier") {
            model.versionIdentifiers = [identifier]
        }
        for child in tree.children where child.name == "composite" || child.name == "compositeAttribute" {
            try readComposite(child)
        }
        for child in tree.children { try readChild(child) }
        var expansion = CompositeExpansion(file: file, lines: lines)
        try expansion.expand(&model)
    }

    private mutating func readChild(_ tree: XMLTree) throws {
        switch tree.name {
        case "entity": model.entities.append(try readEntity(tree))
        case "fetchRequest":
            let request = try readFetchRequest(tree)
            lines[request.name] = lines[request.name] ?? tree.line
            model.fetchRequests.append(request)
        case "configuration": try readConfiguration(tree)
        case "elements": readDiagram(tree)
        case "composite", "compositeAttribute": break
        default: note(unknown: tree, in: "model")
        }
    }

    private mutating func readConfiguration(_ tree: XMLTree) throws {
        var element = SourceElement(tree, file: file)
        let name = try element.requiredText("name")
        let usesCloudKit = try element.flag("usedWithCloudKit")
        finish(element)
        var members: [String] = []
        for child in tree.children {
            var member = SourceElement(child, file: file)
            guard child.name == "memberEntity" else {
                note(unknown: child, in: "configuration")
                continue
            }
            members.append(try member.requiredText("name"))
            finish(member)
        }
        lines[name] = lines[name] ?? tree.line
        model.configurations.append(
            ConfigurationDocument(name: name, entityNames: members, usesCloudKit: usesCloudKit))
    }

    private mutating func readComposite(_ tree: XMLTree) throws {
        var element = SourceElement(tree, file: file)
        let name = try element.requiredText("name")
        finish(element)
        var parts: [PropertyDocument] = []
        for child in tree.children {
            if child.name == "attribute" {
                parts.append(try readAttribute(child))
            } else {
                note(unknown: child, in: tree.name)
            }
        }
        lines["composite \(name)"] = tree.line
        model.composites.append(CompositeDocument(name: name, elements: parts))
    }

    private mutating func readDiagram(_ tree: XMLTree) {
        for child in tree.children where child.name == "element" {
            func value(_ name: String) -> String { child.attributes[name] ?? "0" }
            model.diagram.append(
                DiagramElement(
                    name: child.attributes["name"] ?? "", positionX: value("positionX"), positionY: value("positionY"),
                    width: value("width"), height: value("height")))
        }
    }

    /// Reads the entries of a `userInfo` element.
    mutating func readUserInfo(_ tree: XMLTree) throws -> [String: ValueDocument] {
        var entries: [String: ValueDocument] = [:]
        for child in tree.children {
            guard child.name == "entry" else {
                note(unknown: child, in: "userInfo")
                continue
            }
            var entry = SourceElement(child, file: file)
            let key = entry.text("key") ?? ""
            entries[key] = .string(entry.text("value") ?? "")
            finish(entry)
        }
        return entries
    }

    mutating func note(unknown tree: XMLTree, in parent: String) {
        notes.append(
            ModelNote(line: tree.line, "the element '\(tree.name)' in '\(parent)' is not known and was passed over"))
    }

    mutating func finish(_ element: SourceElement) { notes += element.notesOnUnknownAttributes() }
}
