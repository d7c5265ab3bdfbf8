/// Carries a value to another queue where the compiler cannot see that only that queue uses it from then on.
///
/// Closures that users hand to `perform(_:)` are not marked `@Sendable` in Apple's API: the queue is the protection.
// SAFETY: the user of each says at its place that only one thread at a time touches the value.
struct UncheckedSendable<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
