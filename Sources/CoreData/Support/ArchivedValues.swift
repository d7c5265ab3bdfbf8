import Foundation
import ModelFiles

// Foundation's unarchiver stops the program on some damaged archives. The bytes of a store may be damaged, so the classes
// of property lists, which nearly all archives are made of, are decoded here, and an archive of others is handed to
// Foundation only when its table of objects is whole.

/// Reads the values of the classes of property lists, `NSURL`, `NSUUID` and `NSNull` out of a keyed archive.
struct ArchivedValues {
    let archive: KeyedArchive

    static let classNames: Set = [
        "NSString", "NSMutableString", "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSDictionary",
        "NSMutableDictionary", "NSDate", "NSData", "NSMutableData", "NSUUID", "NSURL", "NSNull",
    ]

    /// How deep collections may be nested: a damaged archive may contain itself.
    private static let depthLimit = 64

    /// The root object; `nil` where it, or one within it, is of another class or damaged.
    func root() -> NSObject? { object(archive.root, depth: 0) }

    private func object(_ value: PropertyListValue?, depth: Int) -> NSObject? {
        guard depth < Self.depthLimit else { return nil }
        switch archive.resolve(value) {
        case .string(let text): return NSString(string: text)
        case .integer(let number): return NSNumber(value: number)
        case .real(let number): return NSNumber(value: number)
        case .boolean(let flag): return NSNumber(value: flag)
        case .data(let data): return NSData(data: data)
        case .date(let seconds): return NSDate(timeIntervalSinceReferenceDate: seconds)
        case .dictionary: return archive.object(value).flatMap { instance($0, value, depth: depth) }
        case .array, .reference, nil: return nil
        }
    }

    private func instance(_ object: KeyedArchive.Object, _ value: PropertyListValue?, depth: Int) -> NSObject? {
        let fields = object.fields
        switch object.className {
        case "NSString", "NSMutableString":
            return archive.text(value).map { NSMutableString(string: $0) }
                .map { object.className == "NSString" ? NSString(string: $0 as String) : $0 }
        case "NSArray": return elements(value, depth).map { NSArray(array: $0) }
        case "NSMutableArray": return elements(value, depth).map { NSMutableArray(array: $0) }
        case "NSSet": return elements(value, depth).map { NSSet(array: $0) }
        case "NSMutableSet": return elements(value, depth).map { NSMutableSet(array: $0) }
        case "NSDictionary": return dictionary(value, depth)?.copy() as? NSDictionary
        case "NSMutableDictionary": return dictionary(value, depth)
        case "NSDate": return real(fields["NS.time"]).map { NSDate(timeIntervalSinceReferenceDate: $0) }
        case "NSData", "NSMutableData":
            guard case .data(let data) = archive.resolve(fields["NS.data"]) else { return nil }
            return object.className == "NSData" ? NSData(data: data) : NSMutableData(data: data)
        case "NSUUID": return uuid(fields["NS.uuidbytes"])
        case "NSURL": return url(fields, depth: depth)
        case "NSNull": return NSNull()
        default: return nil
        }
    }

    private func elements(_ value: PropertyListValue?, _ depth: Int) -> [NSObject]? {
        guard let elements = archive.elements(value) else { return nil }
        let objects = elements.compactMap { object($0, depth: depth + 1) }
        return objects.count == elements.count ? objects : nil
    }

    private func dictionary(_ value: PropertyListValue?, _ depth: Int) -> NSMutableDictionary? {
        guard let entries = archive.entries(value) else { return nil }
        let result = NSMutableDictionary()
        for (key, value) in entries {
            guard let key = object(key, depth: depth + 1), let value = object(value, depth: depth + 1) else {
                return nil
            }
            result[key] = value
        }
        return result
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

    private func url(_ fields: [String: PropertyListValue], depth: Int) -> NSURL? {
        guard let text = archive.text(fields["NS.relative"]) else { return nil }
        guard let base = object(fields["NS.base"], depth: depth + 1) as? NSURL else { return NSURL(string: text) }
        return NSURL(string: text, relativeTo: base as URL)
    }
}
