import Foundation

/// An attribute: a property that holds a value.
// SAFETY: as `NSPropertyDescription`: frozen with its model before other threads may see it.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
    /// The type of the value. Setting it sets `attributeValueClassName` to the class of that type.
    open var attributeType: NSAttributeType = .undefinedAttributeType {
        willSet { willModify() }
        didSet { if attributeType != oldValue { attributeValueClassName = attributeType.valueClassName } }
    }

    /// The type of the value, under its newer name.
    open var type: AttributeType {
        get { AttributeType(rawValue: attributeType) }
        set { attributeType = newValue.rawValue }
    }

    /// The name of the class of the values. Set with the type; a transformable attribute may name another class.
    open var attributeValueClassName: String? { willSet { willModify() } }

    /// The value of a new object. Kept without a copy; a Swift number becomes an `NSNumber`, which casts to any
    /// number.
    open var defaultValue: Any? {
        get { initialValue }
        set {
            willModify()
            initialValue = newValue.map(NumberCoercion.boxed)
        }
    }
    private var initialValue: Any?

    /// The name of the transformer that converts a transformable value to data; `nil` means a keyed archive.
    open var valueTransformerName: String? { willSet { willModify() } }

    /// True if a store may put large data into separate files.
    open var allowsExternalBinaryDataStorage = false { willSet { willModify() } }

    /// True if the value may be encrypted in the cloud. Kept in the model; unused on Linux.
    open var allowsCloudEncryption = false { willSet { willModify() } }

    /// True if the history keeps the value of a deleted object.
    open var preservesValueInHistoryOnDeletion = false { willSet { willModify() } }

    /// The hash of everything that the attribute's column depends on: name, optionality, type and storage.
    open override var versionHash: Data { super.versionHash }

    /// The minimum and maximum of a number or date, if the model sets them.
    final var bounds: ValueBounds { validation.bounds }

    /// The minimum and maximum length of a string, if the model sets them.
    final var lengthBounds: LengthBounds { validation.lengthBounds }

    /// The regular expression that the whole string must match, if the model sets one.
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
