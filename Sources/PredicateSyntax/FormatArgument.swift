/// An argument that takes the place of a placeholder.
package enum FormatArgument {
    /// A value, of whatever type.
    case value(Any?)
    /// An expression of the caller's: it stands where `%@` stands.
    case expression(ExpressionTree)
}
