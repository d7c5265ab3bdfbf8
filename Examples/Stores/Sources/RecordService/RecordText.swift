import CoreData
import Foundation

/// Converts attribute values to the texts of records and back without loss.
enum RecordText {
    static func text(_ value: Any) -> String? {
        switch value {
        case let text as String: text
        case let number as NSDecimalNumber: number.stringValue
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let data as Data: data.base64EncodedString()
        case let id as UUID: id.uuidString
        case let url as URL: url.absoluteString
        case let number as NSNumber: "\(number)"
        default:
            (try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true))?
                .base64EncodedString()
        }
    }

    /// Returns the value; nil if the text is not one of the type.
    static func value(_ text: String, _ type: NSAttributeType) -> Any? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: Int64(text)
        case .doubleAttributeType: Double(text)
        case .floatAttributeType: Float(text)
        case .booleanAttributeType: ["0": false, "1": true, "false": false, "true": true][text]
        case .decimalAttributeType: Decimal(string: text).map { NSDecimalNumber(decimal: $0) }
        case .dateAttributeType: Double(text).map { Date(timeIntervalSinceReferenceDate: $0) }
        case .binaryDataAttributeType: Data(base64Encoded: text)
        case .UUIDAttributeType: UUID(uuidString: text)
        case .URIAttributeType: URL(string: text)
        case .transformableAttributeType: Data(base64Encoded: text).flatMap(unarchived)
        default: text
        }
    }

    private static func unarchived(_ data: Data) -> Any? {
        try? NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [
                NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
            ], from: data)
    }
}
