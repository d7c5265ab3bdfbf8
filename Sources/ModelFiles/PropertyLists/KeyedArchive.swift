import Foundation

/// A keyed archive, not decoded: a table of objects that refer to each other by number.
package struct KeyedArchive {
    /// One object of an archive: its class and its fields.
    package struct Object {
        /// The number by which other objects of the archive refer to this one.
        package let number: Int
        package let className: String
        package let fields: [String: PropertyListValue]
    }

    private let content: PropertyListValue
    private let objects: [PropertyListValue]
    /// The maximum number of values in a walk from the root.
    package let expansionLimit: Int
    /// The reference to the root object.
    package let root: PropertyListValue

    /// The number of objects in the archive.
    package var objectCount: Int { objects.count }

    /// Opens the archive in `data`.
    ///
    /// - Throws: ``PropertyListError``.
    package init(_ data: Data) throws {
        let content = try BinaryPropertyListReader.read(data)
        guard case .dictionary(let archive) = content, archive["$archiver"] == .string("NSKeyedArchiver"),
            case .array(let objects) = archive["$objects"],
            case .dictionary(let top) = archive["$top"]
        else { throw PropertyListError("the property list is not a keyed archive") }
        guard let root = top["root"] else { throw PropertyListError("the keyed archive has no root object") }
        self.content = content
        self.objects = objects
        expansionLimit = BinaryPropertyListReader.expansionLimit(ofBytes: data.count)
        self.root = root
    }

    /// The same archive written again, without the bytes that were not read.
    package var rewritten: Data { BinaryPropertyListWriter.write(content) }

    /// True if every reference has a target, and every object's class is described, as unarchivers require.
    package var isWhole: Bool {
        isWhole(root) && objects.allSatisfy { isWhole($0) && hasClass($0) }
    }

    /// The names of the classes of all objects.
    package var classNames: Set<String> {
        Set(
            objects.compactMap { object in
                guard case .dictionary(let fields) = object, case .string(let name) = fields["$classname"] else {
                    return nil
                }
                return name
            })
    }

    private func isWhole(_ value: PropertyListValue) -> Bool {
        switch value {
        case .reference(let number): objects.indices.contains(number)
        case .array(let elements): elements.allSatisfy(isWhole)
        case .dictionary(let fields): fields.values.allSatisfy(isWhole)
        default: true
        }
    }

    /// True if an object of the archive has a valid class description, or needs none: plain values and the class
    /// descriptions themselves.
    private func hasClass(_ value: PropertyListValue) -> Bool {
        guard case .dictionary(let fields) = value, fields["$classname"] == nil else { return true }
        guard case .dictionary(let description) = resolve(fields["$class"]), case .string = description["$classname"],
            case .array(let ancestors) = description["$classes"]
        else { return false }
        return ancestors.allSatisfy { if case .string = $0 { true } else { false } }
    }

    /// All objects that have a class.
    package var instances: [Object] { objects.indices.compactMap { object(.reference($0)) } }

    /// The value that `value` refers to, or itself; `nil` for no value, the null object, and invalid references.
    package func resolve(_ value: PropertyListValue?) -> PropertyListValue? {
        guard case .reference(let number) = value else { return value }
        guard objects.indices.contains(number), objects[number] != .string("$null") else { return nil }
        if case .reference = objects[number] { return nil }
        return objects[number]
    }

    /// The object that `value` refers to; `nil` for a plain value or nothing.
    package func object(_ value: PropertyListValue?) -> Object? {
        guard case .reference(let number) = value, case .dictionary(let fields) = resolve(value),
            case .dictionary(let description) = resolve(fields["$class"]),
            case .string(let className) = description["$classname"]
        else { return nil }
        return Object(number: number, className: className, fields: fields)
    }

    /// The names of an object's class and its ancestors.
    package func classes(of object: Object) -> [String] {
        guard case .dictionary(let description) = resolve(object.fields["$class"]),
            case .array(let names) = description["$classes"]
        else { return [object.className] }
        let ancestors = names.compactMap { if case .string(let name) = $0 { name } else { nil } }
        return ancestors.first == object.className ? ancestors : [object.className]
    }

    /// The text that `value` refers to: a plain one or an object of a string class.
    package func text(_ value: PropertyListValue?) -> String? {
        if case .string(let text) = resolve(value) { return text }
        if let object = object(value), case .string(let text) = resolve(object.fields["NS.string"]) { return text }
        return nil
    }

    /// The elements of an archived array or set.
    package func elements(_ value: PropertyListValue?) -> [PropertyListValue]? {
        if case .array(let elements) = resolve(value) { return elements }
        guard let object = object(value), case .array(let elements) = resolve(object.fields["NS.objects"]) else {
            return nil
        }
        return elements
    }

    /// The keys and values of an archived dictionary, including the form of the model cache.
    package func entries(_ value: PropertyListValue?) -> [(key: PropertyListValue, value: PropertyListValue)]? {
        guard let object = object(value) else { return nil }
        if let mapping = self.object(object.fields["searchMapping"]) {
            guard let keys = elements(mapping.fields["keys"]), let values = elements(object.fields["values"]) else {
                return nil
            }
            let empty = text(object.fields["emptyToken"])
            return zip(keys, values).filter { empty == nil || text($1) != empty }.map { ($0, $1) }
        }
        guard case .array(let keys) = resolve(object.fields["NS.keys"]), let values = elements(value) else {
            return nil
        }
        return zip(keys, values).map { ($0, $1) }
    }

    package func integer(_ value: PropertyListValue?) -> Int64? {
        switch resolve(value) {
        case .integer(let number): number
        case .boolean(let flag): flag ? 1 : 0
        default: nil
        }
    }

    /// The flag; `false` if it is absent, as archives omit it then.
    package func flag(_ value: PropertyListValue?) -> Bool { integer(value).map { $0 != 0 } ?? false }
}
