import Foundation

@testable import ModelFiles

/// Keyed archives with unknown keys and classes.
enum AlteredArchive {
    /// The archive with unknown keys in each object of a class in ``KnownKeys``: a plain value, a text, and an object
    /// of an unknown class that references itself, the object with the key, and the model.
    ///
    /// - Parameter isChosen: True for the objects that get the keys, by number and class.
    static func addingKeys(to data: Data, where isChosen: (Int, String) -> Bool = { _, _ in true }) throws -> Data {
        try changing(data) { objects, root in
            let future = append(
                ["$classname": .string("XFuture"), "$classes": .array([.string("XFuture"), .string("NSObject")])],
                to: &objects)
            for number in objects.indices {
                guard case .dictionary(var fields) = objects[number], let name = className(of: fields, in: objects),
                    KnownKeys.byClass[name] != nil || KnownKeys.bySyntaxClass[name] != nil, isChosen(number, name)
                else { continue }
                objects.append(.string("text \(number)"))
                let text = PropertyListValue.reference(objects.count - 1)
                let object = PropertyListValue.reference(objects.count)
                objects.append(
                    .dictionary([
                        "$class": future, "self": object, "owner": .reference(number), "model": root, "text": text,
                        "list": .array([.integer(Int64(number)), text, .reference(0)]), "data": .data(Data([1, 2])),
                    ]))
                fields["XPlain"] = .integer(Int64(number))
                fields["XText"] = text
                fields["XNothing"] = .reference(0)
                fields["XObject"] = object
                objects[number] = .dictionary(fields)
            }
        }
    }

    /// The archive with the class `name` renamed everywhere.
    static func renaming(_ name: String, in data: Data, to other: String = "XFutureThing") throws -> Data {
        try changing(data) { objects, _ in
            objects = objects.map { object in
                guard case .dictionary(var fields) = object, fields["$classname"] == .string(name) else {
                    return object
                }
                fields["$classname"] = .string(other)
                fields["$classes"] = .array([.string(other), .string("NSObject")])
                return .dictionary(fields)
            }
        }
    }

    static func changing(
        _ data: Data, _ change: (inout [PropertyListValue], _ root: PropertyListValue) -> Void
    ) throws -> Data {
        guard case .dictionary(var list) = try BinaryPropertyListReader.read(data),
            case .array(var objects) = list["$objects"], case .dictionary(let top) = list["$top"],
            let root = top["root"]
        else { throw PropertyListError("no archive") }
        change(&objects, root)
        list["$objects"] = .array(objects)
        return BinaryPropertyListWriter.write(.dictionary(list))
    }

    private static func append(_ fields: [String: PropertyListValue], to objects: inout [PropertyListValue])
        -> PropertyListValue
    {
        objects.append(.dictionary(fields))
        return .reference(objects.count - 1)
    }

    private static func className(of fields: [String: PropertyListValue], in objects: [PropertyListValue]) -> String? {
        guard case .reference(let number) = fields["$class"], objects.indices.contains(number),
            case .dictionary(let description) = objects[number], case .string(let name) = description["$classname"]
        else { return nil }
        return name
    }
}
