/// A composite attribute: a group of named values, stored in separate columns.
///
/// An object's value is a dictionary with the elements' names as keys.
// SAFETY: as `NSPropertyDescription`: frozen with its model before other threads may see it.
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// The parts of the value. Elements may be composite themselves.
    open var elements: [NSAttributeDescription] = [] { willSet { willModify() } }

    /// A composite attribute without elements.
    public required init() {
        super.init()
        attributeType = .compositeAttributeType
    }

    override func copyValues(to copy: NSPropertyDescription) {
        super.copyValues(to: copy)
        guard let copy = copy as? NSCompositeAttributeDescription else { return }
        copy.elements = elements.compactMap { $0.copy() as? NSAttributeDescription }
    }
}
