import Foundation

/// An attribute: a property that holds a value.
// SAFETY: as `NSPropertyDescription`: frozen with its model before other threads may see it.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
    /// The type of the value. Setting it sets `attributeValueClassName` to the class of that type.
    open var attributeType: NSAttributeType = .undefinedAttributeType {
        willSet { willModify() }
        didSet { if attributeType != oldValue { attributeValueClassName = attributeType.valueClassName } }
    }

    /// The type of the value, under the name of newer source.
    open var type: AttributeType {
        get { AttributeType(rawValue: attributeType) }
        set { attributeType = newValue.rawValue }
    }

    /// The name of the class of the values. Follows the type; a transformable attribute may name its own class.
    open var attributeValueClassName: String? { willSet { willModify() } }

    /// The value that a new object starts with. Kept as it is given and not copied; only a number of Swift's becomes an
    /// `NSNumber`, which casts to any number.
    open var defaultValue: Any? {
        get { initialValue }
        set {
            willModify()
            initialValue = newValue.map(NumberCoercion.boxed)
        }
    }
    private var initialValue: Any?

    /// The name of the transformer that turns a transformable value into data; `nil` means a keyed archive.
    open var valueTransformerName: String? { willSet { willModify() } }

    /// Whether a store may put large data into files beside it.
    open var allowsExternalBinaryDataStorage = false { willSet { willModify() } }

    /// Whether the value may be encrypted in the cloud. Kept in the model; nothing on Linux reads it.
    open var allowsCloudEncryption = false { willSet { willModify() } }

    /// Whether the history keeps the value of a deleted object.
    open var preservesValueInHistoryOnDeletion = false { willSet { willModify() } }

    /// The hash of what the column of the attribute depends on: name, optionality, type, and how it is kept.
    open override var versionHash: Data { super.versionHash }

    /// The least and the greatest value of a number or date, where the model sets them.
    final var bounds: ValueBounds { validation.bounds }

    /// The shortest and the greatest length of a string, where the model sets them.
    final var lengthBounds: LengthBounds { validation.lengthBounds }

    /// The regular expression that a whole string has to match, where the model sets one.
    final var pattern: String? { validation.pattern }

    override func copyValues(to copy: NSPropertyDescription) {
        super.copyValues(to: copy)
        guard let copy = copy as? NSAttributeDescription else { return }
        copy.attributeType = attributeType
        copy.attributeValueClassName = attributeValueClassName
        copy.defaultValue = defaultValue
        copy.valueTransformerName = valueTransformerName
        copy.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        copy.allowsCloudEncryption = allowsCloudEncryption
        copy.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
    }
}
