import ModelFiles

/// Whether the objects of an archive have what their classes take for granted: Foundation stops the program at some fields that
/// are missing or of another kind.
struct ArchiveShapes {
    let archive: KeyedArchive

    /// Whether a class of Foundation's was tried with archives that lack everything, and those that are named below.
    static func knows(_ name: String) -> Bool { classNames.contains(name) || name.hasPrefix("NSUnit") }

    private static let classNames: Set = [
        "NSAttributedString", "NSCalendar", "NSCharacterSet", "NSConcreteValue", "NSCountedSet", "NSDateComponents",
        "NSDateInterval", "NSDecimalNumber", "NSDimension", "NSIndexPath", "NSIndexSet", "NSLocale", "NSMeasurement",
        "NSMutableAttributedString", "NSMutableCharacterSet", "NSMutableIndexSet", "NSMutableURLRequest", "NSNumber",
        "NSObject", "NSPersonNameComponents", "NSRegularExpression", "NSTimeZone", "NSURLQueryItem", "NSURLRequest",
        "NSValue",
    ]

    /// Cost: one look at each object.
    var areSound: Bool { archive.instances.allSatisfy(isSound) }

    private func isSound(_ object: KeyedArchive.Object) -> Bool {
        let fields = object.fields
        switch object.className {
        case "NSString", "NSMutableString": return isText(fields["NS.string"])
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSCountedSet":
            return list(fields["NS.objects"]) != nil
        case "NSDictionary", "NSMutableDictionary":
            guard let keys = list(fields["NS.keys"]), let values = list(fields["NS.objects"]) else { return false }
            return keys.count == values.count && keys.allSatisfy { archive.resolve($0) != nil }
        case "NSOrderedSet", "NSMutableOrderedSet":
            let count = fields.keys.count { $0.hasPrefix("NS.object.") }
            return (0..<count).allSatisfy { archive.resolve(fields["NS.object.\($0)"]) != nil }
        case "NSError":
            return isText(fields["NSDomain"]) && archive.integer(fields["NSCode"]) != nil
                && (archive.resolve(fields["NSUserInfo"]) == nil || hasTextKeys(fields["NSUserInfo"]))
        case "NSURLQueryItem": return isText(fields["NS.name"])
        case "NSData", "NSMutableData": return isData(fields["NS.data"])
        case "NSUUID": return isData(fields["NS.uuidbytes"])
        case "NSURL": return isText(fields["NS.relative"])
        default: return true
        }
    }

    private func isText(_ value: PropertyListValue?) -> Bool { archive.text(value) != nil }

    private func isData(_ value: PropertyListValue?) -> Bool {
        if case .data = archive.resolve(value) { true } else { false }
    }

    private func list(_ value: PropertyListValue?) -> [PropertyListValue]? {
        if case .array(let elements) = value { elements } else { nil }
    }

    private func hasTextKeys(_ value: PropertyListValue?) -> Bool {
        guard let object = archive.object(value), case .array(let keys)? = object.fields["NS.keys"] else {
            return false
        }
        return keys.allSatisfy(isText)
    }
}
