import Foundation

/// A computed value of a fetch: a result column that is not a property of the entity.
// SAFETY: as `NSPropertyDescription`: frozen with its model before other threads may see it.
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
    /// The computed expression.
    open var expression: NSExpression? { willSet { willModify() } }

    /// The type of the result.
    open var expressionResultType: NSAttributeType = .undefinedAttributeType { willSet { willModify() } }

    /// The type of the result, under its newer name.
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
