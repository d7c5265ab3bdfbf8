/// An object that announces its changes.
public protocol ObservableObject: AnyObject {
    associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher
    where ObjectWillChangePublisher.Failure == Never

    /// Sends before each change of the object.
    var objectWillChange: ObjectWillChangePublisher { get }
}

extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
    /// Sends before each change of a published property.
    public var objectWillChange: ObservableObjectPublisher { WillChangePublishers.shared.publisher(of: self) }
}

/// The publisher of an observable object.
public final class ObservableObjectPublisher: Publisher, @unchecked Sendable {
    public typealias Output = Void
    public typealias Failure = Never
    private let subject = PassthroughSubject<Void, Never>()

    /// Creates a publisher.
    public init() {}

    /// Attaches a subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Void, S.Failure == Never {
        subject.receive(subscriber: subscriber)
    }

    /// Announces a change.
    public func send() { subject.send() }
}

/// The publishers of observable objects that have been asked for one.
private final class WillChangePublishers: @unchecked Sendable {
    private struct Entry {
        weak var object: AnyObject?
        let publisher: ObservableObjectPublisher
    }

    static let shared = WillChangePublishers()
    private let lock = NSLock()
    private var entries: [ObjectIdentifier: Entry] = [:]
    private var limit = 64

    func publisher(of object: AnyObject) -> ObservableObjectPublisher {
        lock.withLock {
            if let publisher = existing(object) { return publisher }
            if entries.count >= limit {
                entries = entries.filter { $0.value.object != nil }
                limit = max(64, 2 * entries.count)
            }
            let entry = Entry(object: object, publisher: ObservableObjectPublisher())
            entries[ObjectIdentifier(object)] = entry
            return entry.publisher
        }
    }

    /// Announces a change, if anyone has asked for the object's publisher.
    func announce(_ object: AnyObject) { lock.withLock { existing(object) }?.send() }

    private func existing(_ object: AnyObject) -> ObservableObjectPublisher? {
        entries[ObjectIdentifier(object)].flatMap { $0.object === object ? $0.publisher : nil }
    }
}

/// A property of a class that announces its changes.
@propertyWrapper public struct Published<Value> {
    /// Sends the value of the property, then each new value before it is set.
    public struct Publisher: Combine.Publisher {
        public typealias Output = Value
        public typealias Failure = Never
        let storage: PublishedStorage<Value>

        /// Attaches a subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Value, S.Failure == Never {
            storage.subject.receive(subscriber: subscriber)
        }
    }

    private let storage: PublishedStorage<Value>

    /// Creates a property with a value.
    public init(wrappedValue: Value) { storage = PublishedStorage(wrappedValue) }
    /// Creates a property with a value.
    public init(initialValue: Value) { self.init(wrappedValue: initialValue) }

    /// Not available: only classes have published properties.
    @available(*, unavailable, message: "@Published is only available on properties of classes")
    public var wrappedValue: Value {
        get { fatalError("@Published is only available on properties of classes") }
        set { fatalError("@Published is only available on properties of classes") }
    }

    /// Not available: only classes have published properties.
    @available(*, unavailable, message: "@Published is only available on properties of classes")
    public var projectedValue: Publisher {
        get { fatalError("@Published is only available on properties of classes") }
        set { fatalError("@Published is only available on properties of classes") }
    }

    /// The value of the property of an object.
    public static subscript<Owner: AnyObject>(
        _enclosingInstance object: Owner, wrapped wrappedKeyPath: ReferenceWritableKeyPath<Owner, Value>,
        storage storageKeyPath: ReferenceWritableKeyPath<Owner, Published<Value>>
    ) -> Value {
        get { object[keyPath: storageKeyPath].storage.value }
        set {
            let storage = object[keyPath: storageKeyPath].storage
            storage.owner = object
            storage.set(newValue)
        }
    }

    /// The publisher of the property of an object.
    public static subscript<Owner: AnyObject>(
        _enclosingInstance object: Owner, projected projectedKeyPath: ReferenceWritableKeyPath<Owner, Publisher>,
        storage storageKeyPath: ReferenceWritableKeyPath<Owner, Published<Value>>
    ) -> Publisher {
        get {
            let storage = object[keyPath: storageKeyPath].storage
            storage.owner = object
            return Publisher(storage: storage)
        }
        set { newValue.storage.owner = object }
    }
}

/// The value of a published property.
final class PublishedStorage<Value>: @unchecked Sendable {
    private(set) var value: Value
    weak var owner: AnyObject?
    private(set) lazy var subject = CurrentValueSubject<Value, Never>(value)
    private var sources: Set<AnyCancellable> = []

    init(_ value: Value) { self.value = value }

    func set(_ newValue: Value) {
        if let owner { WillChangePublishers.shared.announce(owner) }
        subject.send(newValue)
        value = newValue
    }

    /// Sets the values of a publisher, for as long as the property exists.
    func follow(_ publisher: some Combine.Publisher<Value, Never>) {
        publisher.sink { [weak self] in self?.set($0) }.store(in: &sources)
    }
}
