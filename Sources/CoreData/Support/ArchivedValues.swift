import Foundation
import ModelFiles

// Foundation's unarchiver stops the program on some damaged archives, and a store's bytes may be damaged. The
// property-list classes, of which nearly all archives consist, are decoded here. Foundation gets other archives only
// if their table of objects is whole.

/// Reads property-list values, ordered sets, errors, `NSURL`, `NSUUID`, `NSNull` and attributed strings from a keyed
/// archive.
///
/// The archive must not be nested deeper than ``deepestNesting``, and no object in it may contain itself.
struct ArchivedValues {
    let archive: KeyedArchive
    /// The decoded objects by number; `nil` if decoding failed. A shared object is created once.
    private var made: [Int: NSObject?] = [:]

    init(archive: KeyedArchive) { self.archive = archive }

    static let classNames: Set = [
        "NSString", "NSMutableString", "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSDictionary",
        "NSMutableDictionary", "NSDate", "NSData", "NSMutableData", "NSUUID", "NSURL", "NSNull", "NSOrderedSet",
        "NSMutableOrderedSet", "NSError", "NSURLQueryItem", "NSAttributedString", "NSMutableAttributedString",
    ]

    /// Maximum nesting of the objects.
    static let deepestNesting = 64

    /// The root object; `nil` if it, or an object inside it, is damaged or of another class.
    mutating func root() -> NSObject? { object(archive.root) }

    private mutating func object(_ value: PropertyListValue?) -> NSObject? {
        guard case .reference(let number) = value else { return make(value) }
        if let known = made[number] { return known }
        let object = make(value)
        made[number] = .some(object)
        return object
    }

    private mutating func make(_ value: PropertyListValue?) -> NSObject? {
        switch archive.resolve(value) {
        case .string(let text): return NSString(string: text)
        case .integer(let number): return NSNumber(value: number)
        case .real(let number): return NSNumber(value: number)
        case .boolean(let flag): return NSNumber(value: flag)
        case .data(let data): return NSData(data: data)
        case .date(let seconds): return NSDate(timeIntervalSinceReferenceDate: seconds)
        case .dictionary: return archive.object(value).flatMap { instance($0, value) }
        case .array, .reference, nil: return nil
        }
    }

    private mutating func instance(_ object: KeyedArchive.Object, _ value: PropertyListValue?) -> NSObject? {
        let fields = object.fields
        switch object.className {
        case "NSString", "NSMutableString":
            return archive.text(value).map { NSMutableString(string: $0) }
                .map { object.className == "NSString" ? NSString(string: $0 as String) : $0 }
        case "NSArray": return elements(value).map { NSArray(array: $0) }
        case "NSMutableArray": return elements(value).map { NSMutableArray(array: $0) }
        case "NSSet": return hashable(elements(value)).map { NSSet(array: $0) }
        case "NSMutableSet": return hashable(elements(value)).map { NSMutableSet(array: $0) }
        case "NSDictionary": return dictionary(value)?.copy() as? NSDictionary
        case "NSMutableDictionary": return dictionary(value)
        case "NSDate": return real(fields["NS.time"]).map { NSDate(timeIntervalSinceReferenceDate: $0) }
        case "NSData", "NSMutableData":
            guard case .data(let data) = archive.resolve(fields["NS.data"]) else { return nil }
            return object.className == "NSData" ? NSData(data: data) : NSMutableData(data: data)
        case "NSUUID": return uuid(fields["NS.uuidbytes"])
        case "NSURL": return ArchiveShapes(archive: archive).url(fields).map { $0 as NSURL }
        case "NSNull": return NSNull()
        case "NSOrderedSet": return hashable(members(fields)).map { NSOrderedSet(array: $0) }
        case "NSMutableOrderedSet": return hashable(members(fields)).map { NSMutableOrderedSet(array: $0) }
        case "NSError": return error(fields)
        case "NSURLQueryItem":
            return archive.text(fields["NS.name"]).map {
                NSURLQueryItem(name: $0, value: archive.text(fields["NS.value"]))
            }
        case "NSAttributedString": return attributedText(fields).map { NSAttributedString(attributedString: $0) }
        case "NSMutableAttributedString": return attributedText(fields)
        default: return nil
        }
    }

    private mutating func elements(_ value: PropertyListValue?) -> [NSObject]? {
        guard let elements = archive.elements(value) else { return nil }
        var objects: [NSObject] = []
        for element in elements {
            guard let object = object(element) else { return nil }
            objects.append(object)
        }
        return objects
    }

    /// Returns `nil` if one of the objects cannot be a member of a set.
    private func hashable(_ objects: [NSObject]?) -> [NSObject]? {
        objects.flatMap { $0.allSatisfy(Hashing.isSafe) ? $0 : nil }
    }

    /// The elements of an ordered set, which archives store one by one; `nil` if one is missing.
    private mutating func members(_ fields: [String: PropertyListValue]) -> [NSObject]? {
        var objects: [NSObject] = []
        for number in 0..<fields.keys.count(where: { $0.hasPrefix("NS.object.") }) {
            guard let field = fields["NS.object.\(number)"], let object = object(field) else { return nil }
            objects.append(object)
        }
        return objects
    }

    private mutating func error(_ fields: [String: PropertyListValue]) -> NSError? {
        guard let domain = archive.text(fields["NSDomain"]), let code = archive.integer(fields["NSCode"]) else {
            return nil
        }
        guard let info = fields["NSUserInfo"], archive.resolve(info) != nil else {
            return NSError(domain: domain, code: Int(code))
        }
        guard let entries = dictionary(info) as? [String: Any] else { return nil }
        return NSError(domain: domain, code: Int(code), userInfo: entries)
    }

    private mutating func dictionary(_ value: PropertyListValue?) -> NSMutableDictionary? {
        guard let entries = archive.entries(value) else { return nil }
        let result = NSMutableDictionary()
        for (key, value) in entries {
            guard let key = object(key), Hashing.isSafe(key), let value = object(value) else { return nil }
            result[key] = value
        }
        return result
    }

    /// An attributed string. Foundation cannot read one whose attributes are the same everywhere, as most are.
    private mutating func attributedText(_ fields: [String: PropertyListValue]) -> NSMutableAttributedString? {
        guard let string = archive.text(fields["NSString"]) else { return nil }
        let text = NSMutableAttributedString(string: string)
        guard let runs = fields["NSAttributeInfo"] else {
            if archive.resolve(fields["NSAttributes"]) == nil { return text }
            guard let attributes = attributes(fields["NSAttributes"]) else { return nil }
            text.addAttributes(attributes, range: NSRange(location: 0, length: text.length))
            return text
        }
        // For each run, its length and the index of its dictionary.
        let bytes = archive.object(runs)?.fields["NS.data"] ?? runs
        guard let numbers = ArchiveShapes(archive: archive).numbers(bytes), numbers.count.isMultiple(of: 2),
            let dictionaries = archive.elements(fields["NSAttributes"])
        else { return nil }
        var location = 0
        for index in stride(from: 0, to: numbers.count, by: 2) {
            let (length, number) = (numbers[index], numbers[index + 1])
            guard length <= text.length - location, dictionaries.indices.contains(number),
                let attributes = attributes(dictionaries[number])
            else { return nil }
            text.addAttributes(attributes, range: NSRange(location: location, length: length))
            location += length
        }
        return location == text.length ? text : nil
    }

    private mutating func attributes(_ value: PropertyListValue?) -> [NSAttributedString.Key: Any]? {
        guard archive.object(value)?.className.hasSuffix("Dictionary") ?? false,
            let entries = dictionary(value) as? [String: Any]
        else { return nil }
        return Dictionary(uniqueKeysWithValues: entries.map { (NSAttributedString.Key($0), $1) })
    }

    private func real(_ value: PropertyListValue?) -> Double? {
        switch archive.resolve(value) {
        case .real(let number): number
        case .integer(let number): Double(number)
        default: nil
        }
    }

    private func uuid(_ value: PropertyListValue?) -> NSUUID? {
        guard case .data(let data) = archive.resolve(value), data.count == 16 else { return nil }
        return NSUUID(uuidBytes: [UInt8](data))
    }
}
