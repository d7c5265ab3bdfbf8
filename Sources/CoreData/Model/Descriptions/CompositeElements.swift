/// A composite attribute seen as the list of values that it consists of.
extension NSCompositeAttributeDescription {
    /// One value: the attribute that describes it, and the names that lead to it from the composite.
    struct Leaf {
        let path: [String]
        let attribute: NSAttributeDescription
    }

    /// The values in the order of the elements; those of a composite element are in its place. Elements of types that no
    /// store keeps (undefined, object IDs) are left out.
    final var leaves: [Leaf] {
        elements.flatMap { element -> [Leaf] in
            guard let composite = element as? NSCompositeAttributeDescription else {
                return ValueCoding(element) == nil ? [] : [Leaf(path: [element.name], attribute: element)]
            }
            return composite.leaves.map { Leaf(path: [element.name] + $0.path, attribute: $0.attribute) }
        }
    }

    /// The element at the end of `path`; `nil` where there is none.
    final func element(at path: ArraySlice<String>) -> NSAttributeDescription? {
        guard let name = path.first, let element = elements.first(where: { $0.name == name }) else { return nil }
        if path.count == 1 { return element }
        return (element as? NSCompositeAttributeDescription)?.element(at: path.dropFirst())
    }

    /// The name under which a file keeps one of the values.
    final func name(of leaf: Leaf) -> String { ([name] + leaf.path).joined(separator: ".") }
}

extension NSEntityDescription {
    /// The attribute, or the value of a composite attribute, that a file keeps under that name.
    final func attribute(keptAs name: String) -> NSAttributeDescription? {
        let path = name.split(separator: ".").map(String.init)
        guard path.count > 1 else { return attributesByName[name] }
        return (attributesByName[path[0]] as? NSCompositeAttributeDescription)?.element(at: path[1...])
    }
}
