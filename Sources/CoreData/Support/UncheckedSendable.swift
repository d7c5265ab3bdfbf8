/// Carries a value to another queue where the compiler cannot see that only that queue uses it from then on.
///
/// Closures that users hand to `perform(_:)` are not marked `@Sendable` in Apple's API: the queue is the protection.
struct UncheckedSendable<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
