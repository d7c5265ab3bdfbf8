import Foundation
import ModelFiles

/// The property list in an XML store.
enum XMLStoreList {
    static func text(_ value: PropertyListValue) -> String {
        switch value {
        case .boolean(let flag): flag ? "<true/>" : "<false/>"
        case .integer(let number): "<integer>\(number)</integer>"
        case .real(let number): "<real>\(number)</real>"
        case .date(let seconds):
            "<date>\(Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601))</date>"
        case .data(let data): "<data>\(data.base64EncodedString())</data>"
        case .string(let text): "<string>\(XMLStoreFormat.escaped(text))</string>"
        case .array(let elements): "<array>" + elements.map(text).joined() + "</array>"
        case .dictionary(let fields):
            "<dict>\n"
                + fields.sorted { $0.key < $1.key }
                .map { "<key>\(XMLStoreFormat.escaped($0.key))</key>\(text($0.value))\n" }.joined() + "</dict>"
        case .reference: "<integer>0</integer>"
        }
    }

    /// Returns `nil` if the element is not a value of a property list.
    static func value(_ element: XMLTextElement) -> Any? {
        switch element.name {
        case "true": return NSNumber(value: true)
        case "false": return NSNumber(value: false)
        case "integer": return Int64(element.text).map { NSNumber(value: $0) }
        case "real": return Double(element.text).map { NSNumber(value: $0) }
        case "string": return element.text
        case "data": return Data(base64Encoded: element.text, options: .ignoreUnknownCharacters)
        case "date": return try? Date(element.text, strategy: .iso8601)
        case "array":
            let elements = element.children.compactMap(value)
            return elements.count == element.children.count ? elements : nil
        case "dict":
            var fields: [String: Any] = [:]
            var rest = element.children[...]
            while let key = rest.popFirst() {
                guard key.name == "key", let next = rest.popFirst(), let value = value(next) else { return nil }
                fields[key.text] = value
            }
            return fields
        default: return nil
        }
    }
}
