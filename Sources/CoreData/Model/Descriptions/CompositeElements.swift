/// A composite attribute as a flat list of its values.
extension NSCompositeAttributeDescription {
    /// One value: its attribute, and the path of names from the composite.
    package struct Leaf {
        package let path: [String]
        package let attribute: NSAttributeDescription
    }

    /// The values in the order of the elements, with those of a nested composite in its place. Omits elements of
    /// types that stores do not keep (undefined, object IDs).
    package final var leaves: [Leaf] {
        elements.flatMap { element -> [Leaf] in
            guard let composite = element as? NSCompositeAttributeDescription else {
                return element.isKept ? [Leaf(path: [element.name], attribute: element)] : []
            }
            return composite.leaves.map { Leaf(path: [element.name] + $0.path, attribute: $0.attribute) }
        }
    }

    /// The element at `path`; `nil` if there is none.
    final func element(at path: ArraySlice<String>) -> NSAttributeDescription? {
        guard let name = path.first, let element = elements.first(where: { $0.name == name }) else { return nil }
        if path.count == 1 { return element }
        return (element as? NSCompositeAttributeDescription)?.element(at: path.dropFirst())
    }

    /// The corresponding value in `source`, an earlier version of the attribute; `nil` if the value is new.
    package final func source(of leaf: Leaf, in source: NSCompositeAttributeDescription) -> Leaf? {
        guard let name = leaf.path.first, let element = elements.first(where: { $0.name == name }) else { return nil }
        let wanted = element.renamingIdentifier ?? name
        let found =
            source.elements.first { $0.name == wanted }
            ?? source.elements.first { $0.explicitRenamingIdentifier == wanted }
        guard let found else { return nil }
        switch (element, found) {
        case (let inner as NSCompositeAttributeDescription, let other as NSCompositeAttributeDescription):
            let rest = Leaf(path: Array(leaf.path.dropFirst()), attribute: leaf.attribute)
            return inner.source(of: rest, in: other).map { Leaf(path: [found.name] + $0.path, attribute: $0.attribute) }
        case (is NSCompositeAttributeDescription, _), (_, is NSCompositeAttributeDescription): return nil
        default: return Leaf(path: [found.name], attribute: found)
        }
    }

    /// The name under which a file stores a value.
    final func name(of leaf: Leaf) -> String { ([name] + leaf.path).joined(separator: ".") }
}

extension NSAttributeDescription {
    /// True if stores keep values of the type.
    final var isKept: Bool { attributeType != .undefinedAttributeType && attributeType != .objectIDAttributeType }
}

extension NSEntityDescription {
    /// The attribute, or the value of a composite attribute, that a file stores under that name.
    final func attribute(keptAs name: String) -> NSAttributeDescription? {
        let path = name.split(separator: ".").map(String.init)
        guard path.count > 1 else { return attributesByName[name] }
        return (attributesByName[path[0]] as? NSCompositeAttributeDescription)?.element(at: path[1...])
    }
}
