import Foundation

/// Reads the `contents` file of a source model.
///
/// Reads everything that known versions of Xcode write; unknown parts are noted and kept, to be written back at the
/// same place. An inconsistent model is an error with its line.
package struct SourceModelReader {
    let file: String
    private let data: Data
    var model = ModelDocument()
    var notes: [ModelNote] = []
    /// The lines of the parts, by the paths of ``ModelProblems``.
    var lines: [String: Int] = [:]

    /// Reads the bytes of a `contents` file.
    ///
    /// - Parameter file: The path for messages.
    /// - Returns: The model, and notes on unknown parts.
    /// - Throws: ``ModelFileError``.
    package static func read(_ data: Data, file: String) throws -> (model: ModelDocument, notes: [ModelNote]) {
        let (model, notes, _) = try readWithLines(data, file: file)
        return (model, notes)
    }

    /// Reads the bytes of a `contents` file like ``read(_:file:)``.
    ///
    /// - Returns: The model and the notes, and the lines of entities (`Team`), properties (`Team.wins`), fetch indexes,
    ///   and other named parts.
    package static func readWithLines(
        _ data: Data, file: String
    ) throws -> (model: ModelDocument, notes: [ModelNote], lines: [String: Int]) {
        var reader = SourceModelReader(data: data, file: file)
        let root = try XMLTree.parse(data, file: file)
        try reader.readModel(root)
        if let problem = ModelProblems.find(in: reader.model).first {
            throw ModelFileError(
                .malformed, file: file, line: reader.lines[problem.path] ?? root.line, problem.reason)
        }
        return (reader.model, reader.notes, reader.lines)
    }

    private init(data: Data, file: String) {
        self.data = data
        self.file = file
    }

    private mutating func readModel(_ tree: XMLTree) throws {
        guard tree.name == "model" else {
            throw ModelFileError(
                .malformed, file: file, line: tree.line, "the root element is '\(tree.name)', not 'model'")
        }
        var element = SourceElement(tree, file: file)
        for name in SourceValues.editorSettings { model.editorSettings[name] = element.text(name) }
        if let identifier = element.text("userDefinedModelVersionIdentifier") {
            model.versionIdentifiers = [identifier]
        }
        var unknown = UnknownParts()
        keepAttributes(of: element, in: &unknown)
        model.unknown = unknown
        for child in tree.children where child.name == "composite" || child.name == "compositeAttribute" {
            try readComposite(child)
        }
        for (position, child) in tree.children.enumerated() { try readChild(child, at: position) }
        var expansion = CompositeExpansion(file: file, lines: lines)
        try expansion.expand(&model)
    }

    private mutating func readChild(_ tree: XMLTree, at position: Int) throws {
        switch tree.name {
        case "entity": model.entities.append(try readEntity(tree))
        case "fetchRequest":
            let request = try readFetchRequest(tree)
            lines[request.name] = lines[request.name] ?? tree.line
            model.fetchRequests.append(request)
        case "configuration": try readConfiguration(tree)
        case "elements": try readDiagram(tree)
        case "composite", "compositeAttribute": break
        default:
            var unknown = model.unknown
            keep(tree, at: position, of: "model", in: &unknown)
            model.unknown = unknown
        }
    }

    private mutating func readConfiguration(_ tree: XMLTree) throws {
        var element = SourceElement(tree, file: file)
        let name = try element.requiredText("name")
        let usesCloudKit = try element.flag("usedWithCloudKit")
        var configuration = ConfigurationDocument(name: name, entityNames: [], usesCloudKit: usesCloudKit)
        keepAttributes(of: element, in: &configuration.unknown)
        for (position, child) in tree.children.enumerated() {
            guard child.name == "memberEntity" else {
                keep(child, at: position, of: tree.name, in: &configuration.unknown)
                continue
            }
            var member = SourceElement(child, file: file)
            let memberName = try member.requiredText("name")
            configuration.entityNames.append(memberName)
            keepAll(of: member, in: &configuration.unknown[part: memberName])
        }
        lines[name] = lines[name] ?? tree.line
        model.configurations.append(configuration)
    }

    private mutating func readComposite(_ tree: XMLTree) throws {
        var element = SourceElement(tree, file: file)
        let name = try element.requiredText("name")
        var composite = CompositeDocument(name: name, elements: [])
        keepAttributes(of: element, in: &composite.unknown)
        for (position, child) in tree.children.enumerated() {
            if child.name == "attribute" {
                composite.elements.append(try readAttribute(child))
            } else {
                keep(child, at: position, of: tree.name, in: &composite.unknown)
            }
        }
        lines["composite \(name)"] = tree.line
        model.composites.append(composite)
    }

    private mutating func readDiagram(_ tree: XMLTree) throws {
        var unknown = UnknownParts()
        keepAttributes(of: SourceElement(tree, file: file), in: &unknown)
        for (position, child) in tree.children.enumerated() {
            guard child.name == "element" else {
                keep(child, at: position, of: tree.name, in: &unknown)
                continue
            }
            var element = SourceElement(child, file: file)
            var drawn = DiagramElement(
                name: element.text("name") ?? "", positionX: element.text("positionX") ?? "0",
                positionY: element.text("positionY") ?? "0", width: element.text("width") ?? "0",
                height: element.text("height") ?? "0")
            keepAll(of: element, in: &drawn.unknown)
            model.diagram.append(drawn)
        }
        model.unknown[part: tree.name] = unknown
    }

    /// Reads the entries of a `userInfo` element.
    mutating func readUserInfo(_ tree: XMLTree, keeping unknown: inout UnknownParts) -> [String: ValueDocument] {
        var entries: [String: ValueDocument] = [:]
        keepAttributes(of: SourceElement(tree, file: file), in: &unknown)
        for (position, child) in tree.children.enumerated() {
            guard child.name == "entry" else {
                keep(child, at: position, of: tree.name, in: &unknown)
                continue
            }
            var entry = SourceElement(child, file: file)
            let key = entry.text("key") ?? ""
            entries[key] = .string(entry.text("value") ?? "")
            keepAll(of: entry, in: &unknown[part: key])
        }
        return entries
    }

    // MARK: Unknown parts

    /// Notes and keeps an unknown child element.
    mutating func keep(_ tree: XMLTree, at position: Int, of parent: String, in unknown: inout UnknownParts) {
        notes.append(ModelNote(line: tree.line, "unknown element '\(tree.name)' in '\(parent)'"))
        let bytes = data.dropFirst(tree.range.lowerBound).prefix(tree.range.count)
        unknown.elements.append(UnknownParts.Element(text: String(decoding: bytes, as: UTF8.self), position: position))
    }

    /// Notes and keeps the unknown attributes, after all known ones were read.
    mutating func keepAttributes(of element: SourceElement, in unknown: inout UnknownParts) {
        for attribute in element.unknownAttributes {
            notes.append(
                ModelNote(
                    line: element.line,
                    "unknown attribute '\(attribute.name)' of '\(element.tree.name)'"))
            unknown.attributes.append(attribute)
        }
    }

    /// Notes and keeps the unknown parts of an element without child elements.
    mutating func keepAll(of element: SourceElement, in unknown: inout UnknownParts) {
        keepAttributes(of: element, in: &unknown)
        for (position, child) in element.tree.children.enumerated() {
            keep(child, at: position, of: element.tree.name, in: &unknown)
        }
    }
}
