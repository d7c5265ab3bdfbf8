import Foundation

/// Builds a keyed archive object by object. Equal strings and numbers are stored once, as in other archives.
package struct KeyedArchiveBuilder {
    private var objects: [PropertyListValue] = [.string("$null")]
    private var strings: [String: Int] = [:]
    private var classes: [[String]: Int] = [:]

    package init() {}

    /// The reference to no object.
    package let null = PropertyListValue.reference(0)

    /// A reference to the text, or to no object.
    package mutating func string(_ text: String?) -> PropertyListValue {
        guard let text else { return null }
        if let number = strings[text] { return .reference(number) }
        // A text that equals the mark for no object must be an object.
        guard text != "$null" else { return object(["NSString", "NSObject"], ["NS.string": .string(text)]) }
        let reference = value(.string(text))
        if case .reference(let number) = reference { strings[text] = number }
        return reference
    }

    /// A reference to a plain value.
    package mutating func value(_ value: PropertyListValue) -> PropertyListValue {
        objects.append(value)
        return .reference(objects.count - 1)
    }

    /// A reference to an object that is defined later, by ``define(_:_:_:)``: for objects that refer to each other.
    package mutating func reserve() -> PropertyListValue { value(.string("$null")) }

    /// Replaces a reserved object by a plain value.
    package mutating func define(_ reference: PropertyListValue, _ value: PropertyListValue) {
        if case .reference(let number) = reference { objects[number] = value }
    }

    /// Sets the class of a reserved object, with its ancestors, and its fields.
    package mutating func define(
        _ reference: PropertyListValue, _ classes: [String], _ fields: [String: PropertyListValue]
    ) {
        guard case .reference(let number) = reference else { return }
        var fields = fields
        fields["$class"] = classReference(classes)
        objects[number] = .dictionary(fields)
    }

    /// A reference to a new object.
    package mutating func object(_ classes: [String], _ fields: [String: PropertyListValue]) -> PropertyListValue {
        let reference = reserve()
        define(reference, classes, fields)
        return reference
    }

    package mutating func array(_ elements: [PropertyListValue], isMutable: Bool = false) -> PropertyListValue {
        object(
            isMutable ? ["NSMutableArray", "NSArray", "NSObject"] : ["NSArray", "NSObject"],
            ["NS.objects": .array(elements)])
    }

    package mutating func set(_ elements: [PropertyListValue]) -> PropertyListValue {
        object(["NSSet", "NSObject"], ["NS.objects": .array(elements)])
    }

    package mutating func dictionary(
        _ entries: [(key: PropertyListValue, value: PropertyListValue)], isMutable: Bool = false
    ) -> PropertyListValue {
        object(
            isMutable ? ["NSMutableDictionary", "NSDictionary", "NSObject"] : ["NSDictionary", "NSObject"],
            ["NS.keys": .array(entries.map(\.key)), "NS.objects": .array(entries.map(\.value))])
    }

    private mutating func classReference(_ names: [String]) -> PropertyListValue {
        let name = names.first ?? "NSObject"
        if let number = classes[names] { return .reference(number) }
        let reference = value(
            .dictionary(["$classname": .string(name), "$classes": .array(names.map(PropertyListValue.string))]))
        if case .reference(let number) = reference { classes[names] = number }
        return reference
    }

    /// The bytes of the archive with the root object.
    package func finish(root: PropertyListValue) -> Data {
        BinaryPropertyListWriter.write(
            .dictionary([
                "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
                "$top": .dictionary(["root": root]), "$objects": .array(objects),
            ]))
    }
}
