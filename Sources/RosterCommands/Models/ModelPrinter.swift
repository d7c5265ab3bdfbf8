import CoreData
import Foundation

/// A model as text.
struct ModelPrinter {
    let model: NSManagedObjectModel
    let style: TextStyle

    /// The entities by name.
    var entities: [NSEntityDescription] { model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") } }

    func text(_ format: ModelFormat) throws -> String {
        switch format {
        case .text: plain
        case .json: json
        case .dot: ModelDiagram(entities: entities).dot
        case .mermaid: ModelDiagram(entities: entities).mermaid
        case .xcdatamodel: String(decoding: try model.sourceContents().data, as: UTF8.self) + "\n"
        }
    }

    private var plain: String {
        var text = entities.map { EntityOutline($0).text(style) }.joined()
        for name in model.configurations {
            let members = (model.entities(forConfigurationName: name) ?? []).compactMap(\.name)
            text += style.bold("configuration \(name)") + "\n  \(members.joined(separator: ", "))\n"
        }
        for (name, request) in requests {
            let predicate = request.predicate.map { " where \($0.formatString)" } ?? ""
            text += style.bold("fetch request \(name)") + "\n  \(request.entityName ?? "?")\(predicate)\n"
        }
        return text
    }

    private var json: String {
        var lines = entities.map { EntityOutline($0).json }
        for name in model.configurations {
            let members = (model.entities(forConfigurationName: name) ?? []).compactMap(\.name)
            lines.append(
                .object([("configuration", .string(name)), ("entities", .array(members.map(JSONValue.string)))]))
        }
        for (name, request) in requests {
            lines.append(
                .object([
                    ("fetchRequest", .string(name)), ("entity", request.entityName.map(JSONValue.string) ?? .null),
                    ("predicate", request.predicate.map { .string($0.formatString) } ?? .null),
                    ("limit", .integer(Int64(request.fetchLimit))),
                ]))
        }
        return lines.map { $0.text + "\n" }.joined()
    }

    private var requests: [(key: String, value: NSFetchRequest<NSFetchRequestResult>)] {
        model.fetchRequestTemplatesByName.sorted { $0.key < $1.key }
    }
}
