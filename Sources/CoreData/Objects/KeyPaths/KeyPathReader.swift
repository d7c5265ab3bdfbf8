import Foundation
import PredicateSyntax

/// Reads paths of keys such as `homeVenue.name`, `teams.@count` and `teams.@avg.wins`.
///
/// A key applied to a collection returns a collection of its members' values, of the same kind. For a member without a
/// value, an array or ordered set contains `NSNull`, and a set nothing.
enum KeyPathReader {
    static func value(of object: Any?, at keyPath: String) -> Any? {
        guard keyPath.contains(".") || keyPath.hasPrefix("@") else { return value(of: object, for: keyPath) }
        return value(of: object, at: keyPath.split(separator: ".").map(String.init)[...])
    }

    static func value(of object: Any?, at keys: ArraySlice<String>) -> Any? {
        var current = object
        var rest = keys
        while let key = rest.first {
            guard let value = current else { return nil }
            rest = rest.dropFirst()
            if key.hasPrefix("@") {
                guard let members = members(of: value) else { return nil }
                return CollectionOperator.apply(key, to: members, rest)
            }
            current = self.value(of: value, for: key)
        }
        return current
    }

    /// Returns the value of one key of an object or dictionary, or of each member of a collection.
    static func value(of object: Any?, for key: String) -> Any? {
        switch object {
        case nil: return nil
        case let object as NSManagedObject: return object.value(forKey: key)
        // Not cast to a Swift dictionary, which traps if keys are equal in Swift only.
        case let object? where type(of: object) is AnyClass && object is NSDictionary:
            return (object as? NSDictionary)?.object(forKey: key)
        case let dictionary as [AnyHashable: Any]: return dictionary[key]
        case let object?:
            if key == "self" || key == "SELF" { return object }
            if let collection = values(of: object, for: key) { return collection }
            if key == "length", let text = object as? String { return NSNumber(value: text.utf16.count) }
            if key == "length", let data = object as? Data { return NSNumber(value: data.count) }
            return nil
        }
    }

    private static func values(of collection: Any, for key: String) -> Any? {
        guard let members = members(of: collection) else { return nil }
        let values = members.map { value(of: $0, for: key) }
        switch collection {
        case is NSSet, is Set<AnyHashable>: return NSSet(array: values.compactMap { $0.map(Hashing.member) })
        case is NSOrderedSet:
            let members = CollectionOperator.distinct(values.map { $0 ?? NSNull() })
            return NSOrderedSet(array: members.map(Hashing.member))
        default: return values.map { $0 ?? NSNull() }
        }
    }

    /// Returns the members of a collection in its order; `nil` if `value` is not a collection.
    static func members(of value: Any) -> [Any]? {
        SetElements.of(value) ?? (value as? NSOrderedSet)?.array ?? value as? [Any]
    }
}

/// The operators of key paths, which reduce a collection to one value or to another collection.
///
/// A member without a value counts as 0 in `@sum` and `@avg`; `@min`, `@max` and the unions ignore it. Without members,
/// sum and average are 0, minimum and maximum `nil`.
enum CollectionOperator {
    static func apply(_ name: String, to members: [Any], _ rest: ArraySlice<String>) -> Any? {
        switch name {
        case "@count": return NSNumber(value: members.count)
        case "@sum": return NSDecimalSum.of(numbers(members, rest)).value
        case "@avg": return NSDecimalSum.of(numbers(members, rest)).average
        case "@min": return values(members, rest).min { isLess($0, $1) }
        case "@max": return values(members, rest).max { isLess($0, $1) }
        case "@unionOfObjects", "@unionOfArrays", "@unionOfSets": return flattened(name, values(members, rest))
        case "@distinctUnionOfObjects", "@distinctUnionOfArrays":
            return distinct(flattened(name, values(members, rest)))
        case "@distinctUnionOfSets":
            return NSSet(array: flattened(name, values(members, rest)).map(Hashing.member))
        default: preconditionFailure("Unknown key path operator \(name).")
        }
    }

    private static func values(_ members: [Any], _ rest: ArraySlice<String>) -> [Any] {
        let values = rest.isEmpty ? members : members.compactMap { KeyPathReader.value(of: $0, at: rest) }
        return values.filter { !($0 is NSNull) }
    }

    private static func numbers(_ members: [Any], _ rest: ArraySlice<String>) -> [NSNumber] {
        let values = rest.isEmpty ? members : members.map { KeyPathReader.value(of: $0, at: rest) ?? NSNull() }
        return values.map { $0 as? NSNumber ?? 0 }
    }

    private static func flattened(_ name: String, _ values: [Any]) -> [Any] {
        guard name.hasSuffix("Arrays") || name.hasSuffix("Sets") else { return values }
        return values.flatMap { KeyPathReader.members(of: $0) ?? [$0] }
    }

    /// Returns the members without those equal to earlier ones.
    static func distinct(_ values: [Any]) -> [Any] {
        var seen: Set<AnyHashable> = []
        return values.filter { value in
            guard let key = Hashing.key(value) else { return true }
            return seen.insert(key).inserted
        }
    }

    private static func isLess(_ left: Any, _ right: Any) -> Bool {
        switch (left, right) {
        case (let left as NSNumber, let right as NSNumber): left.compare(right) == .orderedAscending
        case (let left as Date, let right as Date): left < right
        case (let left as String, let right as String): left.compare(right) == .orderedAscending
        default: false
        }
    }
}

/// The sum of numbers: exact for integers and decimals.
private struct NSDecimalSum {
    let value: NSNumber
    let average: NSNumber

    static func of(_ numbers: [NSNumber]) -> NSDecimalSum {
        if numbers.contains(where: { $0 is NSDecimalNumber }) {
            let sum = numbers.reduce(Decimal(0)) { $0 + $1.decimalValue }
            let average = NSDecimalNumber(decimal: sum / Decimal(numbers.count))
            return NSDecimalSum(value: NSDecimalNumber(decimal: sum), average: average)
        }
        let real = numbers.reduce(0.0) { $0 + $1.doubleValue }
        let average = NSNumber(value: numbers.isEmpty ? 0 : real / Double(numbers.count))
        guard numbers.allSatisfy({ !CFNumberIsReal($0) }) else {
            return NSDecimalSum(value: NSNumber(value: real), average: average)
        }
        let (sum, overflow) = numbers.reduce((Int64(0), false)) { state, number in
            let next = state.0.addingReportingOverflow(number.int64Value)
            return (next.partialValue, state.1 || next.overflow)
        }
        return NSDecimalSum(value: overflow ? NSNumber(value: real) : NSNumber(value: sum), average: average)
    }

    private static func CFNumberIsReal(_ number: NSNumber) -> Bool {
        let type = UInt8(bitPattern: number.objCType.pointee)
        return type == UInt8(ascii: "d") || type == UInt8(ascii: "f")
    }
}
