/// Carries a value to another queue that alone uses it from then on, if the compiler cannot prove this.
///
/// In Apple's API the closures passed to `perform(_:)` are not `@Sendable`: the queue protects them.
// SAFETY: each user states why only one thread at a time touches the value.
package struct UncheckedSendable<Value>: @unchecked Sendable {
    package let value: Value
    package init(_ value: Value) { self.value = value }
}
