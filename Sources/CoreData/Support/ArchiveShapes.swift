import Foundation
import ModelFiles

/// Checks that the objects of an archive have the fields that their classes expect. Foundation stops the program if a
/// field is missing, of another kind or out of range, and at any object after one that it could not create.
struct ArchiveShapes {
    let archive: KeyedArchive

    typealias Fields = [String: PropertyListValue]

    /// True if all objects are sound. Cost: visits each object once.
    var areSound: Bool { archive.instances.allSatisfy { isSound($0) && refersToObjects($0) } }

    /// True if the object refers only to objects, not to the lists and class descriptions of the archive format.
    private func refersToObjects(_ object: KeyedArchive.Object) -> Bool {
        object.fields.allSatisfy { name, value in
            // Foundation expects that collections hold references, not values.
            if name.hasPrefix("NS.objects") || name.hasPrefix("NS.keys"), case .array(let members) = value,
                !members.allSatisfy({ if case .reference = $0 { true } else { false } })
            {
                return false
            }
            return name == "$class" || isObject(value)
        }
    }

    private func isObject(_ value: PropertyListValue) -> Bool {
        switch value {
        case .array(let elements): return elements.allSatisfy(isObject)
        case .reference:
            switch archive.resolve(value) {
            case .array: return false
            case .dictionary: return archive.object(value) != nil
            default: return true
            }
        default: return true
        }
    }

    /// True if this type can check objects of the Foundation class `name`.
    static func knows(_ name: String) -> Bool { checks[name] != nil || unitCheck(name) != nil }

    private func isSound(_ object: KeyedArchive.Object) -> Bool {
        guard let check = Self.checks[object.className] ?? Self.unitCheck(object.className) else { return true }
        return check(self, object.fields)
    }

    private typealias Check = @Sendable (ArchiveShapes, Fields) -> Bool

    /// The check of a dimension's unit, which needs a symbol and a linear converter; `nil` for other classes.
    private static func unitCheck(_ name: String) -> Check? {
        guard name.hasPrefix("NSUnit"), name != "NSUnit", !name.hasPrefix("NSUnitConverter") else { return nil }
        return { shapes, fields in
            shapes.isText(fields["NS.symbol"])
                && shapes.archive.object(fields["NS.converter"])?.className == "NSUnitConverterLinear"
        }
    }

    private static let checks: [String: Check] = [
        "NSString": { $0.isText($1["NS.string"]) }, "NSMutableString": { $0.isText($1["NS.string"]) },
        "NSArray": { $0.list($1["NS.objects"]) != nil }, "NSMutableArray": { $0.list($1["NS.objects"]) != nil },
        "NSSet": { $0.isSet($1) }, "NSMutableSet": { $0.isSet($1) }, "NSCountedSet": { $0.isCountedSet($1) },
        "NSDictionary": { $0.isDictionary($1) }, "NSMutableDictionary": { $0.isDictionary($1) },
        "NSOrderedSet": { $0.isOrderedSet($1) }, "NSMutableOrderedSet": { $0.isOrderedSet($1) },
        "NSError": {
            $0.isText($1["NSDomain"]) && $0.archive.integer($1["NSCode"]) != nil
                && ($0.archive.resolve($1["NSUserInfo"]) == nil || $0.hasTextKeys($1["NSUserInfo"]))
        },
        // Always refused: Foundation stops the program if a query item follows an object that it could not create.
        "NSURLQueryItem": { _, _ in false }, "NSURL": { $0.url($1) != nil },
        "NSData": { $0.data($1["NS.data"]) != nil }, "NSMutableData": { $0.data($1["NS.data"]) != nil },
        "NSUUID": { $0.data($1["NS.uuidbytes"])?.count == 16 }, "NSDate": { $0.real($1["NS.time"]) != nil },
        "NSNull": { _, _ in true }, "NSLocale": { $0.isLocale($1) },
        "NSDateComponents": { $0.isDateComponents($1) }, "NSCalendar": { $0.isCalendar($1) },
        "NSTimeZone": { shapes, fields in
            shapes.archive.text(fields["NS.name"]).map { TimeZone(identifier: $0) != nil } ?? false
        },
        "NSIndexSet": { $0.isIndexSet($1) }, "NSMutableIndexSet": { $0.isIndexSet($1) },
        "NSIndexPath": { $0.isIndexPath($1) },
        "NSAttributedString": { $0.isAttributedString($1) },
        "NSMutableAttributedString": { $0.isAttributedString($1) },
        "NSDateInterval": { $0.isInterval($1) }, "NSCharacterSet": { $0.isPlainText($1["NSString"]) },
        "NSMutableCharacterSet": { $0.isPlainText($1["NSString"]) },
        "NSMeasurement": { shapes, fields in
            shapes.real(fields["NS.value"]) != nil
                && (shapes.archive.object(fields["NS.unit"]).map { $0.className.hasPrefix("NSUnit") } ?? false)
        },
        "NSUnit": { $0.isText($1["NS.symbol"]) },
        "NSUnitConverterLinear": { $0.real($1["NS.coefficient"]) != nil && $0.real($1["NS.constant"]) != nil },
        "NSPersonNameComponents": { shapes, fields in
            ["familyName", "givenName", "middleName", "namePrefix", "nameSuffix", "nickname"].allSatisfy { name in
                fields["NS." + name].map { shapes.archive.resolve($0) == nil || shapes.isText($0) } ?? false
            }
        },
        "NSRegularExpression": { shapes, fields in
            guard let pattern = shapes.archive.text(fields["NSPattern"]), shapes.isWithin(fields["NSOptions"], 0...127)
            else { return false }
            return (try? NSRegularExpression(pattern: pattern)) != nil
        },
        "NSValue": { $0.isValue($1) }, "NSConcreteValue": { $0.isValue($1) },
        "NSDecimalNumber": { shapes, fields in
            shapes.isWithin(fields["NS.exponent"], -128...127) && shapes.isWithin(fields["NS.length"], 0...8)
                && ["NS.negative", "NS.compact", "NS.mantissabo"].allSatisfy {
                    shapes.archive.integer(fields[$0]) != nil
                }
                && shapes.data(fields["NS.mantissa"])?.count == 16
        },
    ]
}

// MARK: Kinds of fields

extension ArchiveShapes {
    fileprivate func isText(_ value: PropertyListValue?) -> Bool { archive.text(value) != nil }

    fileprivate func isPlainText(_ value: PropertyListValue?) -> Bool {
        if case .string = archive.resolve(value) { true } else { false }
    }

    fileprivate func data(_ value: PropertyListValue?) -> Data? {
        if case .data(let data) = archive.resolve(value) { data } else { nil }
    }

    fileprivate func real(_ value: PropertyListValue?) -> Double? {
        if case .real(let number) = archive.resolve(value), number.isFinite { number } else { nil }
    }

    fileprivate func isWithin(_ value: PropertyListValue?, _ range: ClosedRange<Int64>) -> Bool {
        archive.integer(value).map(range.contains) ?? false
    }

    fileprivate func list(_ value: PropertyListValue?) -> [PropertyListValue]? {
        if case .array(let elements) = value { elements } else { nil }
    }

    fileprivate func isHashable(_ value: PropertyListValue?) -> Bool {
        archive.object(value).map { !Hashing.endlessClassNames.contains($0.className) } ?? true
    }

    /// True if a set can hold the referenced object.
    private func isMember(_ value: PropertyListValue?) -> Bool {
        guard case .reference = value else { return false }
        return archive.resolve(value) != nil && isHashable(value)
    }

    /// True if the field exists and is either empty or refers to an object of that class.
    private func isOptional(_ value: PropertyListValue?, _ className: String) -> Bool {
        value != nil && (archive.resolve(value) == nil || archive.object(value)?.className == className)
    }

    /// Decodes numbers of seven bits per byte, low bits first; `nil` if the data is malformed or a number is too
    /// large.
    func numbers(_ value: PropertyListValue?) -> [Int]? {
        guard let data = data(value) else { return nil }
        var (numbers, number, shift): ([Int], Int, Int) = ([], 0, 0)
        for byte in data {
            guard shift <= 28 else { return nil }
            number |= Int(byte & 0x7F) << shift
            shift += 7
            if byte & 0x80 == 0 {
                numbers.append(number)
                (number, shift) = (0, 0)
            }
        }
        return shift == 0 ? numbers : nil
    }

    /// The archived URL; `nil` if invalid. Foundation accepts some texts as an `NSURL` but not as a `URL`, and stops
    /// the program when it bridges them.
    ///
    /// - Parameter depth: the longest chain of base URLs to follow. Objects that the root does not reach may contain
    ///   themselves.
    func url(_ fields: Fields, depth: Int = ArchivedValues.deepestNesting) -> URL? {
        guard depth > 0, let text = archive.text(fields["NS.relative"]) else { return nil }
        guard let base = archive.object(fields["NS.base"]) else { return URL(string: text) }
        return url(base.fields, depth: depth - 1).flatMap { URL(string: text, relativeTo: $0) }
    }

    // MARK: Classes

    fileprivate func isSet(_ fields: Fields) -> Bool {
        list(fields["NS.objects"])?.allSatisfy(isMember) ?? false
    }

    fileprivate func isCountedSet(_ fields: Fields) -> Bool {
        guard let count = archive.integer(fields["NS.count"]), 0...Int64(fields.count) ~= count else { return false }
        return (0..<count).allSatisfy { place in
            let member = fields["NS.object\(place)"]
            return isMember(member) && isWithin(fields["NS.count\(place)"], 1...100_000)
        }
    }

    fileprivate func isDictionary(_ fields: Fields) -> Bool {
        guard let keys = list(fields["NS.keys"]), let values = list(fields["NS.objects"]) else { return false }
        // Foundation skips values that it could not create, and then reads past the end of their list.
        return keys.count == values.count && values.allSatisfy { archive.resolve($0) != nil }
            && keys.allSatisfy { archive.resolve($0) != nil && isHashable($0) }
    }

    fileprivate func hasTextKeys(_ value: PropertyListValue?) -> Bool {
        guard let object = archive.object(value), case .array(let keys)? = object.fields["NS.keys"] else {
            return false
        }
        return keys.allSatisfy(isText)
    }

    fileprivate func isOrderedSet(_ fields: Fields) -> Bool {
        let count = fields.keys.count { $0.hasPrefix("NS.object.") }
        return (0..<count).allSatisfy { isMember(fields["NS.object.\($0)"]) }
    }

    fileprivate func isDateComponents(_ fields: Fields) -> Bool {
        let units = [
            "day", "era", "hour", "isLeapMonth", "minute", "month", "nanosec", "quarter", "second", "weekOfMonth",
            "weekOfYear", "weekday", "weekdayOrdinal", "year", "yearForWOY",
        ]
        return units.allSatisfy { archive.integer(fields["NS." + $0]) != nil }
            && isOptional(fields["NS.calendar"], "NSCalendar") && isOptional(fields["NS.timezone"], "NSTimeZone")
    }

    fileprivate func isLocale(_ fields: Fields) -> Bool {
        guard let name = archive.text(fields["NS.identifier"]), name.utf8.count < 100 else { return false }
        return name.utf8.allSatisfy { byte in
            ("a"..."z").contains(Character(Unicode.Scalar(byte | 0x20))) || "0123456789_-@=;".utf8.contains(byte)
        }
    }

    fileprivate func isCalendar(_ fields: Fields) -> Bool {
        let identifiers: Set = [
            "gregorian", "buddhist", "chinese", "coptic", "ethiopic", "ethiopic-amete-alem", "hebrew", "iso8601",
            "indian", "islamic", "islamic-civil", "japanese", "persian", "roc", "islamic-tbla", "islamic-umalqura",
        ]
        return archive.text(fields["NS.identifier"]).map(identifiers.contains) ?? false
            && isWithin(fields["NS.firstwkdy"], 1...7) && isWithin(fields["NS.mindays"], 1...7)
            && isOptional(fields["NS.gstartdate"], "NSDate")
            && archive.object(fields["NS.locale"])?.className == "NSLocale"
            && archive.object(fields["NS.timezone"])?.className == "NSTimeZone"
    }

    fileprivate func isIndexSet(_ fields: Fields) -> Bool {
        guard let count = archive.integer(fields["NSRangeCount"]) else { return false }
        if count == 1 {
            return isWithin(fields["NSLocation"], 0...1 << 40) && isWithin(fields["NSLength"], 1...1 << 40)
        }
        guard let numbers = numbers(fields["NSRangeData"]), numbers.count.isMultiple(of: 2), numbers.count / 2 == count
        else { return false }
        return numbers.indices.allSatisfy { $0.isMultiple(of: 2) || numbers[$0] > 0 }
    }

    fileprivate func isIndexPath(_ fields: Fields) -> Bool {
        guard let length = archive.integer(fields["NSIndexPathLength"]) else { return false }
        if length == 0 { return true }
        if length == 1 { return isWithin(fields["NSIndexPathValue"], 0...1 << 40) }
        return numbers(fields["NSIndexPathData"])?.count == Int(length)
    }

    fileprivate func isAttributedString(_ fields: Fields) -> Bool {
        guard let text = archive.text(fields["NSString"]) else { return false }
        // Foundation does not read an attributed string without these fields.
        guard let numbers = numbers(fields["NSAttributeInfo"]), numbers.count.isMultiple(of: 2),
            archive.object(fields["NSAttributes"])?.className == "NSArray",
            let runs = archive.elements(fields["NSAttributes"]),
            runs.allSatisfy({ archive.object($0)?.className == "NSDictionary" && hasTextKeys($0) })
        else { return false }
        let lengths = stride(from: 0, to: numbers.count, by: 2).map { numbers[$0] }
        return lengths.allSatisfy { $0 > 0 } && lengths.reduce(0, +) == text.utf16.count
            && stride(from: 1, to: numbers.count, by: 2).allSatisfy { numbers[$0] < runs.count }
    }

    fileprivate func isInterval(_ fields: Fields) -> Bool {
        func seconds(_ key: String) -> Double? {
            guard let date = archive.object(fields[key]), date.className == "NSDate" else { return nil }
            return real(date.fields["NS.time"])
        }
        guard let start = seconds("NS.startDate"), let end = seconds("NS.endDate") else { return false }
        return start <= end
    }

    fileprivate func isValue(_ fields: Fields) -> Bool {
        switch archive.integer(fields["NS.special"]) {
        case 1: isText(fields["NS.pointval"])
        case 2: isText(fields["NS.sizeval"])
        case 3: isText(fields["NS.rectval"])
        case 4:
            isWithin(fields["NS.rangeval.location"], 0...1 << 40) && isWithin(fields["NS.rangeval.length"], 0...1 << 40)
        default: false
        }
    }
}
