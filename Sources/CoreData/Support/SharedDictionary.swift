import Foundation
import Synchronization

/// A dictionary that any thread may read and change, one access at a time.
///
/// An enumeration goes over the keys as they were when it began.
final class SharedDictionary: NSMutableDictionary {
    private let lock = Mutex<Void>(())
    private let storage = NSMutableDictionary()

    // SAFETY: `NSDictionary` calls it with `cnt` objects and keys, which it holds meanwhile.
    required init(objects: UnsafePointer<AnyObject>!, forKeys keys: UnsafePointer<NSObject>!, count cnt: Int) {
        super.init(objects: objects, forKeys: keys, count: 0)
        for index in 0..<cnt { storage.setObject(objects[index], forKey: keys[index]) }
    }

    private func locked<Value>(_ body: (NSMutableDictionary) -> Value) -> Value {
        lock.withLock { _ in UncheckedSendable(body(storage)) }.value
    }

    override var count: Int { locked(\.count) }

    override func object(forKey key: Any) -> Any? { locked { $0.object(forKey: key) } }

    override func keyEnumerator() -> NSEnumerator { locked { $0.allKeys as NSArray }.objectEnumerator() }

    override func setObject(_ object: Any, forKey key: AnyHashable) { locked { $0.setObject(object, forKey: key) } }

    override func removeObject(forKey key: Any) { locked { $0.removeObject(forKey: key) } }

    override func copy(with zone: NSZone? = nil) -> Any { locked { $0.copy() } }

    override func mutableCopy(with zone: NSZone? = nil) -> Any { locked { $0.mutableCopy() } }
}
