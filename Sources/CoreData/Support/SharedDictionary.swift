import Foundation
import Synchronization

/// A dictionary that any thread may read and change; accesses are serialised.
///
/// An enumeration visits the keys that existed when it began. Each change makes a new dictionary, because keys and
/// values of a program's types must be compared and released outside the lock.
final class SharedDictionary: NSMutableDictionary {
    private let lock = Mutex<Void>(())
    /// The current dictionary. It is never changed once other threads can see it.
    // SAFETY: read and replaced only under the lock.
    @exclusivity(unchecked)
    private var contents = NSMutableDictionary()

    // SAFETY: `NSDictionary` calls it with `cnt` objects and keys, which it holds during the call.
    required init(objects: UnsafePointer<AnyObject>!, forKeys keys: UnsafePointer<NSObject>!, count cnt: Int) {
        super.init(objects: objects, forKeys: keys, count: 0)
        for index in 0..<cnt { contents.setObject(objects[index], forKey: keys[index]) }
    }

    private var current: NSMutableDictionary { lock.withLock { _ in UncheckedSendable(contents) }.value }

    private func change(_ body: (NSMutableDictionary) -> Void) {
        var isDone = false
        while !isDone {
            let old = UncheckedSendable(current)
            let new = UncheckedSendable(old.value.mutableCopy() as? NSMutableDictionary ?? NSMutableDictionary())
            body(new.value)
            isDone = lock.withLock { _ in
                // Another thread may have replaced it.
                guard contents === old.value else { return false }
                contents = new.value
                return true
            }
            withExtendedLifetime(old) {}
        }
    }

    override var count: Int { current.count }

    override func object(forKey key: Any) -> Any? { current.object(forKey: key) }

    override func keyEnumerator() -> NSEnumerator { (current.allKeys as NSArray).objectEnumerator() }

    override func setObject(_ object: Any, forKey key: AnyHashable) { change { $0.setObject(object, forKey: key) } }

    override func removeObject(forKey key: Any) { change { $0.removeObject(forKey: key) } }

    override func copy(with zone: NSZone? = nil) -> Any { current.copy() }

    override func mutableCopy(with zone: NSZone? = nil) -> Any { current.mutableCopy() }
}
