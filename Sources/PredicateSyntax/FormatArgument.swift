/// The argument for a placeholder.
package enum FormatArgument {
    /// A value of any type.
    case value(Any?)
    /// An expression of the caller, which replaces `%@`.
    case expression(ExpressionTree)
}
