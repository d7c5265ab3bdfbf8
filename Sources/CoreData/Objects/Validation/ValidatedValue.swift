/// The form in which Apple's API passes a value that may be replaced: a pointer whose `pointee` is the value.
///
/// A save validates each property of each object, and overriders of `validateValue(_:forKey:)` look at few
/// of them: there the value is made into an object when `pointee` is asked for. Valid during the call that it was passed
/// to.
// SAFETY: the memory is that of `value`, which is held, or of the pointer's owner, who keeps it as for any pointer.
public struct AutoreleasingUnsafeMutablePointer<Pointee> {
    let memory: UnsafeMutablePointer<Pointee>
    /// Whose memory it is while a save validates an object.
    let value: ValidatedValue?

    /// A pointer to a variable.
    public init(_ pointer: UnsafeMutablePointer<Pointee>) {
        memory = pointer
        value = nil
    }

    /// The value, or what replaces it.
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

// SAFETY: `value` holds its memory, and the pointer holds `value`.
extension AutoreleasingUnsafeMutablePointer<AnyObject?> {
    init(_ value: ValidatedValue) {
        memory = value.memory
        self.value = value
    }
}

/// The value of one property of one object while a save validates it: made into an object where an override looks at it.
///
/// `validateValue(_:forKey:)` is called for every property of every object, as a class may override it; to make an object of
/// each value would take as long as writing the row.
// SAFETY: the memory is allocated and initialised in `init`, and given up in `deinit`.
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

    /// The properties of `object` come next; `nil` after the last one.
    func begin(_ object: NSManagedObject?) { self.object = object }

    /// The property of the rule with that number comes next.
    @inline(__always)
    func begin(_ number: Int) {
        self.number = number
        guard isMade else { return }
        isMade = false
        made = nil
        memory.pointee = nil
    }

    /// Whether it is the object's value still.
    var isUnchanged: Bool { !isMade || memory.pointee === made }

    /// Makes the object's value into an object, unless that is done.
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
