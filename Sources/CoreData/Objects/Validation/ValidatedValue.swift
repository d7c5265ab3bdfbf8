/// The pointer type by which Apple's API passes a value that may be replaced. Its `pointee` is the value.
///
/// A save validates each property of each object, but few overrides of `validateValue(_:forKey:)` read the value. So it
/// is converted to an object only when `pointee` is read. Valid during the call to which it is passed.
// SAFETY: the memory belongs to `value`, which is retained, or to the pointer's owner, who keeps it as for any pointer.
public struct AutoreleasingUnsafeMutablePointer<Pointee> {
    let memory: UnsafeMutablePointer<Pointee>
    /// The owner of the memory while a save validates an object.
    let value: ValidatedValue?

    /// Creates a pointer to a variable.
    public init(_ pointer: UnsafeMutablePointer<Pointee>) {
        memory = pointer
        value = nil
    }

    /// The value; may be set to replace it.
    public var pointee: Pointee {
        get {
            value?.make()
            return memory.pointee
        }
        nonmutating set {
            value?.make()
            memory.pointee = newValue
        }
    }
}

// SAFETY: `value` owns its memory, and the pointer retains `value`.
extension AutoreleasingUnsafeMutablePointer<AnyObject?> {
    init(_ value: ValidatedValue) {
        memory = value.memory
        self.value = value
    }
}

/// The value of one property of one object during validation, converted to an object when an override reads it.
///
/// A save calls `validateValue(_:forKey:)` for every property of every object, as a class may override it. Converting
/// each value would take as long as writing the row.
// SAFETY: the memory is allocated and initialised in `init`, and freed in `deinit`.
final class ValidatedValue {
    let memory: UnsafeMutablePointer<AnyObject?>
    private(set) var object: NSManagedObject?
    /// The number of the property's rule.
    private(set) var number = 0
    private var isMade = false
    private var made: AnyObject?

    init() {
        memory = .allocate(capacity: 1)
        memory.initialize(to: nil)
    }

    deinit {
        memory.deinitialize(count: 1)
        memory.deallocate()
    }

    /// Begins the validation of `object`; `nil` ends that of the last one.
    func begin(_ object: NSManagedObject?) { self.object = object }

    /// Begins the validation of the property with that rule number.
    @inline(__always)
    func begin(_ number: Int) {
        self.number = number
        guard isMade else { return }
        isMade = false
        made = nil
        memory.pointee = nil
    }

    /// True if the object's value was not replaced.
    var isUnchanged: Bool { !isMade || memory.pointee === made }

    /// Converts the object's value to an object, once.
    func make() {
        guard !isMade, let object else { return }
        made = Self.value(object.layout.traits.rules[number].place, of: object)
        memory.pointee = made
        isMade = true
    }

    private static func value(_ place: EntityLayout.Place, of object: NSManagedObject) -> AnyObject? {
        switch place {
        case .attribute(let slot):
            let type = object.layout.attribute(at: slot)?.attributeType ?? .undefinedAttributeType
            return AttributeCoercion.object(object.currentValue(slot), type: type)
        case .toOne(let slot): return object.toOneTarget(slot)
        case .toMany(let number): return KeyValueAccess.collection(of: object, number: number)
        case .fetched: return nil
        }
    }
}
