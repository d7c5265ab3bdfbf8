import Foundation
import ModelFiles

/// The file of an XML store, with the elements of Apple's framework: entities in upper case, properties in lower case.
///
/// Additions are the attribute types `uuid`, `uri` and `transformable`, `encoding="base64"` for text with characters
/// that XML does not allow, and one element for each value of a composite attribute, named `attribute.element`.
enum XMLStoreFormat: StoreFileFormat {
    /// Checks that the file can store the entities.
    ///
    /// - Throws: 134060 for names that differ only in case, which the file cannot distinguish.
    static func check(_ entities: [NSEntityDescription]) throws {
        func check(_ names: [String], _ what: String, _ fold: (String) -> String) throws {
            var seen: [String: String] = [:]
            for name in names {
                guard let other = seen.updateValue(name, forKey: fold(name)) else { continue }
                throw CoreDataError.make(
                    134060,
                    "An XML store cannot distinguish \(what) '\(name)' from '\(other)', because the names differ only in case."
                )
            }
        }
        try check(entities.compactMap(\.name), "the entity") { $0.uppercased() }
        for entity in entities {
            let values = entity.attributesByName.values.compactMap { $0 as? NSCompositeAttributeDescription }.flatMap {
                composite in composite.leaves.map(composite.name)
            }
            try check(
                (Array(entity.propertiesByName.keys) + values).sorted(), "\(entity.name ?? "")'s property"
            ) { $0.lowercased() }
        }
    }

    // MARK: Writing

    static func data(of image: StoreImage, model: NSManagedObjectModel?) throws -> Data {
        var text = """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
                <databaseInfo>
                    <version>134481920</version>
                    <UUID>\(escaped(image.metadata[NSStoreUUIDKey] as? String ?? ""))</UUID>
                    <nextObjectID>\(image.nextNumber)</nextObjectID>
                    <metadata>
                        <plist version="1.0">

            """
        text += XMLStoreList.text(try StoredMetadata.plain(image.metadata))
        text += "\n            </plist>\n        </metadata>\n    </databaseInfo>\n"
        for record in image.records { text += element(record, model?.entitiesByName[record.entity]) }
        return Data((text + "</database>\n").utf8)
    }

    private static func element(_ record: StoreImage.Record, _ entity: NSEntityDescription?) -> String {
        var text = "    <object type=\"\(escaped(record.entity.uppercased()))\" id=\"z\(record.number)\">\n"
        for (name, value) in record.values.sorted(by: { $0.key < $1.key }) {
            let type =
                record.types?[name] ?? entity?.attribute(keptAs: name).flatMap { types[$0.attributeType] } ?? "string"
            let (content, encoding) = content(value, type)
            text +=
                "        <attribute name=\"\(escaped(name.lowercased()))\" type=\"\(type)\"\(encoding)>\(content)</attribute>\n"
        }
        let kept = record.relationships ?? [:]
        for name in Set(entity?.relationshipsByName.keys.map { $0 } ?? []).union(kept.keys).sorted() {
            let relationship = entity?.relationshipsByName[name]
            if relationship?.isTransient == true { continue }
            let kind = kept[name]?.type ?? (relationship?.isToMany == true ? "0/0" : "1/1")
            let destination = kept[name]?.destination ?? relationship?.destinationEntity?.name?.uppercased() ?? ""
            let numbers = (record.destinations[name] ?? []).map { "z\($0)" }.joined(separator: " ")
            let references = numbers.isEmpty ? "" : " idrefs=\"\(numbers)\""
            text +=
                "        <relationship name=\"\(escaped(name.lowercased()))\" type=\"\(kind)\" "
                + "destination=\"\(escaped(destination))\"\(references)></relationship>\n"
        }
        return text + "    </object>\n"
    }

    private static let types: [NSAttributeType: String] = [
        .integer16AttributeType: "int16", .integer32AttributeType: "int32", .integer64AttributeType: "int64",
        .decimalAttributeType: "decimal", .doubleAttributeType: "double", .floatAttributeType: "float",
        .stringAttributeType: "string", .booleanAttributeType: "bool", .dateAttributeType: "date",
        .binaryDataAttributeType: "binary", .UUIDAttributeType: "uuid", .URIAttributeType: "uri",
        .transformableAttributeType: "transformable",
    ]

    private static func content(_ value: PropertyListValue, _ type: String) -> (text: String, encoding: String) {
        switch value {
        case .integer(let number): return ("\(number)", "")
        case .real(let number):
            guard type == "date", number.isFinite else { return ("\(number)", "") }
            let text = String(format: "%.20f", number)
            return (Double(text) == number ? text : "\(number)", "")
        case .data(let data): return (data.base64EncodedString(), "")
        case .string(let text):
            guard text.unicodeScalars.contains(where: isForbidden) else { return (escaped(text), "") }
            return (Data(text.utf8).base64EncodedString(), " encoding=\"base64\"")
        default: return ("", "")
        }
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 && ![0x9, 0xA, 0xD].contains(scalar.value) || [0xFFFE, 0xFFFF].contains(scalar.value)
    }

    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\r": result += "&#13;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    // MARK: Reading

    static func image(from data: Data, path: String) throws -> StoreImage {
        do throws(XMLTextParser.Failure) {
            return try image(try XMLTextParser.parse(data))
        } catch {
            throw CoreDataError.make(
                259, "Cannot open the store \(path): line \(error.line): \(error.reason).",
                userInfo: [NSFilePathErrorKey: path])
        }
    }

    private static func image(_ root: XMLTextElement) throws(XMLTextParser.Failure) -> StoreImage {
        guard root.name == "database", let info = root.first("databaseInfo") else {
            throw XMLTextParser.Failure(
                line: root.line, reason: "this is not an XML store: it has no elements database and databaseInfo")
        }
        var image = StoreImage()
        if let list = info.first("metadata")?.first("plist")?.children.first {
            guard let metadata = XMLStoreList.value(list) as? [String: Any] else {
                throw XMLTextParser.Failure(line: list.line, reason: "the metadata is not a dictionary")
            }
            image.metadata = metadata
        }
        if let uuid = info.first("UUID")?.text { image.metadata[NSStoreUUIDKey] = uuid }
        image.metadata[NSStoreTypeKey] = image.metadata[NSStoreTypeKey] ?? NSXMLStoreType
        image.nextNumber = info.first("nextObjectID").flatMap { Int64($0.text) } ?? 1
        for object in root.children where object.name == "object" { image.records.append(try record(object)) }
        return image
    }

    private static func record(_ object: XMLTextElement) throws(XMLTextParser.Failure) -> StoreImage.Record {
        guard let entity = object.attributes["type"], let number = object.attributes["id"].flatMap(number) else {
            throw XMLTextParser.Failure(line: object.line, reason: "an object lacks its type or its id")
        }
        var record = StoreImage.Record(entity: entity, number: number, types: [:], relationships: [:])
        for child in object.children {
            guard let name = child.attributes["name"] else {
                throw XMLTextParser.Failure(line: child.line, reason: "the element '\(child.name)' has no name")
            }
            if child.name == "attribute" {
                let type = child.attributes["type"] ?? "string"
                guard let value = value(child, type) else {
                    throw XMLTextParser.Failure(
                        line: child.line, reason: "'\(name)' is not a value of the type \(type)")
                }
                record.values[name] = value
                record.types?[name] = type
            } else if child.name == "relationship" {
                let references = (child.attributes["idrefs"] ?? "").split(separator: " ")
                let numbers = references.compactMap { Self.number(String($0)) }
                guard numbers.count == references.count else {
                    throw XMLTextParser.Failure(
                        line: child.line, reason: "'\(name)' refers to a value that is not an id")
                }
                record.destinations[name] = numbers
                record.relationships?[name] = (
                    child.attributes["type"] ?? "0/0", child.attributes["destination"] ?? ""
                )
            }
        }
        return record
    }

    /// Converts `z102` to 102.
    private static func number(_ id: String) -> Int64? { id.first == "z" ? Int64(id.dropFirst()) : nil }

    private static func value(_ element: XMLTextElement, _ type: String) -> PropertyListValue? {
        let text = element.text
        switch type {
        case "int16", "int32", "int64", "bool": return Int64(text).map(PropertyListValue.integer)
        case "double", "float", "date": return Double(text).map(PropertyListValue.real)
        case "binary", "transformable":
            return Data(base64Encoded: text, options: .ignoreUnknownCharacters).map(PropertyListValue.data)
        default:
            guard element.attributes["encoding"] == "base64" else { return .string(text) }
            return Data(base64Encoded: text).flatMap { String(validating: $0, as: UTF8.self) }.map(
                PropertyListValue.string)
        }
    }
}

/// The built-in store type `NSXMLStoreType`.
// SAFETY: adds no state to `FileStore`.
final class XMLStore: FileStore, @unchecked Sendable {
    override var type: String { NSXMLStoreType }
    override class var format: any StoreFileFormat.Type { XMLStoreFormat.self }
    override class func folded(_ name: String) -> String { name.uppercased() }
    override class func foldedProperty(_ name: String) -> String { name.lowercased() }
}
