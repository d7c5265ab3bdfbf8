import Foundation

/// A value that a fetch computes: a column of its result that is no property of the entity.
// SAFETY: as `NSPropertyDescription`: frozen with its model before other threads may see it.
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
    /// What is computed.
    open var expression: NSExpression? { willSet { willModify() } }

    /// The type of what is computed.
    open var expressionResultType: NSAttributeType = .undefinedAttributeType { willSet { willModify() } }

    /// The type of what is computed, under the name of newer source.
    open var resultType: NSAttributeDescription.AttributeType {
        get { NSAttributeDescription.AttributeType(rawValue: expressionResultType) }
        set { expressionResultType = newValue.rawValue }
    }

    override func copyValues(to copy: NSPropertyDescription) {
        super.copyValues(to: copy)
        guard let copy = copy as? NSExpressionDescription else { return }
        copy.expression = expression
        copy.expressionResultType = expressionResultType
    }
}
