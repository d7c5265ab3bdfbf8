import CoreData
import Foundation

/// A model as a diagram: entities with attributes, inheritance, and relationships with both ends.
struct ModelDiagram {
    let entities: [NSEntityDescription]

    /// A relationship and its inverse, drawn as one line.
    private struct Line {
        let relationship: NSRelationshipDescription
        let source: String
        let destination: String
        let inverse: NSRelationshipDescription?
    }

    private var lines: [Line] {
        var drawn: Set<ObjectIdentifier> = []
        var lines: [Line] = []
        for entity in entities {
            for relationship in Self.own(NSRelationshipDescription.self, of: entity)
            where !drawn.contains(ObjectIdentifier(relationship)) {
                drawn.insert(ObjectIdentifier(relationship))
                let inverse = relationship.inverseRelationship
                if let inverse { drawn.insert(ObjectIdentifier(inverse)) }
                lines.append(
                    Line(
                        relationship: relationship, source: entity.name ?? "",
                        destination: relationship.destinationEntity?.name ?? "?", inverse: inverse))
            }
        }
        return lines
    }

    private var hierarchy: [(child: String, parent: String)] {
        entities.compactMap { entity in
            guard let child = entity.name, let parent = entity.superentity?.name else { return nil }
            return (child, parent)
        }
    }

    /// The properties of a kind that an entity declares itself, by name.
    private static func own<Property: NSPropertyDescription>(
        _ kind: Property.Type, of entity: NSEntityDescription
    ) -> [Property] {
        let inherited = Set((entity.superentity?.properties ?? []).map(\.name))
        return entity.properties.compactMap { $0 as? Property }.filter { !inherited.contains($0.name) }
            .sorted { $0.name < $1.name }
    }

    // MARK: Graphviz

    var dot: String {
        var text = """
            digraph model {
              graph [rankdir=LR, nodesep=0.6, ranksep=1.2];
              node [shape=plain, fontname="Helvetica"];
              edge [fontname="Helvetica", fontsize=10];

            """
        for entity in entities { text += "  \(Self.quoted(entity.name ?? "")) [label=<\(Self.table(of: entity))>];\n" }
        for (child, parent) in hierarchy {
            text += "  \(Self.quoted(child)) -> \(Self.quoted(parent)) [arrowhead=onormal];\n"
        }
        for line in lines {
            let there = Self.crow(line.relationship)
            let back = line.inverse.map(Self.crow) ?? "none"
            let label = line.inverse.flatMap { $0 === line.relationship ? nil : $0.name }.map { "\($0) / " } ?? ""
            text +=
                "  \(Self.quoted(line.source)) -> \(Self.quoted(line.destination)) [dir=both, arrowhead=\(there), "
                + "arrowtail=\(back), label=\(Self.quoted(label + line.relationship.name))];\n"
        }
        return text + "}\n"
    }

    private static func crow(_ relationship: NSRelationshipDescription) -> String {
        relationship.isToMany ? "crow" : "normal"
    }

    private static func table(of entity: NSEntityDescription) -> String {
        let name = escaped(entity.name ?? "")
        var rows = "<tr><td bgcolor=\"lightgrey\"><b>\(entity.isAbstract ? "<i>\(name)</i>" : name)</b></td></tr>"
        for attribute in own(NSAttributeDescription.self, of: entity) {
            let optional = attribute.isOptional ? "?" : ""
            rows +=
                "<tr><td align=\"left\">\(escaped(attribute.name)): \(escaped(attribute.attributeType.editorName))\(optional)"
                + "</td></tr>"
        }
        return "<table border=\"0\" cellborder=\"1\" cellspacing=\"0\" cellpadding=\"4\">\(rows)</table>"
    }

    /// A quoted string of Graphviz.
    private static func quoted(_ text: String) -> String {
        let escaped = text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
        return "\"\(escaped)\""
    }

    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
    }

    // MARK: Mermaid

    var mermaid: String {
        var text = "classDiagram\n"
        let words = mermaidClasses
        for entity in entities {
            let name = entity.name ?? ""
            let word = words[name] ?? name
            text += "    class \(word)"
            if word != name { text += "[\"\(name.replacing("\"", with: "'"))\"]" }
            let attributes = Self.own(NSAttributeDescription.self, of: entity)
            guard !attributes.isEmpty || entity.isAbstract else {
                text += "\n"
                continue
            }
            text += " {\n"
            if entity.isAbstract { text += "        <<abstract>>\n" }
            for attribute in attributes {
                let type = Self.word(attribute.attributeType.editorName)
                text += "        \(type) \(Self.word(attribute.name))\n"
            }
            text += "    }\n"
        }
        for (child, parent) in hierarchy { text += "    \(words[parent] ?? parent) <|-- \(words[child] ?? child)\n" }
        for line in lines {
            let near = line.inverse.map(Self.count) ?? "*"
            let arrow = line.inverse == nil ? "-->" : "--"
            let back =
                line.inverse.flatMap { $0 === line.relationship ? nil : $0.name }.map { "\(Self.word($0)) / " } ?? ""
            text +=
                "    \(words[line.source] ?? line.source) \"\(near)\" \(arrow) \"\(Self.count(line.relationship))\" "
                + "\(words[line.destination] ?? line.destination) : \(back)\(Self.word(line.relationship.name))\n"
        }
        return text
    }

    private static func count(_ relationship: NSRelationshipDescription) -> String {
        if relationship.isToMany { return relationship.isOptional ? "*" : "1..*" }
        return relationship.isOptional ? "0..1" : "1"
    }

    /// A unique Mermaid word for each entity.
    private var mermaidClasses: [String: String] {
        var words: [String: String] = [:]
        var taken: Set<String> = []
        for name in entities.compactMap(\.name).sorted() {
            let wanted = Self.word(name)
            var number = 1
            while !taken.insert(number == 1 ? wanted : "\(wanted)\(number)").inserted { number += 1 }
            words[name] = number == 1 ? wanted : "\(wanted)\(number)"
        }
        return words
    }

    /// A Mermaid word: other characters than letters, digits and underscores would end it.
    private static func word(_ text: String) -> String {
        let word = String(text.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
        return word.isEmpty ? "_" : word
    }
}
