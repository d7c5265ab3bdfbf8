import Foundation

/// The dictionary that the handler of a batch insertion fills: keys and values in the order in which they are set.
///
/// A hash table of objects, such as Foundation's, costs more than the rest of an insertion. The same dictionary is
/// filled for each row, usually with the same keys in the same order, so each key is first compared with the key at the
/// same position in the previous row.
final class RowDictionary: NSMutableDictionary {
    /// This row's keys, followed by those of the previous row that this row has not set; without duplicates.
    private var keys: [AnyHashable] = []
    /// The keys as texts, which compare in a tenth of the time; `nil` for a key of another type.
    private var names: [String?] = []
    private var values: [Any] = []
    private var used = 0
    /// A number that changes with ``arrangedNames``.
    private(set) var arrangement = 0

    override var count: Int { used }

    /// The keys by position; `nil` for a key that is not a text. The first ``count`` are set.
    var arrangedNames: [String?] { names }

    func name(at index: Int) -> String { names[index] ?? "\(keys[index])" }

    func value(at index: Int) -> Any { values[index] }

    override func object(forKey aKey: Any) -> Any? {
        guard let key = aKey as? AnyHashable else { return nil }
        return place(of: key).map { values[$0] }
    }

    override func keyEnumerator() -> NSEnumerator { NSArray(array: keys.prefix(used).map(\.base)).objectEnumerator() }

    override func setObject(_ anObject: Any, forKey aKey: AnyHashable) {
        let name = aKey.base as? String
        if used < keys.count, name != nil, names[used] == name {
            values[used] = anObject
            used += 1
        } else if let place = place(of: aKey) {
            values[place] = anObject
        } else {
            keys.removeSubrange(used...)
            names.removeSubrange(used...)
            values.removeSubrange(used...)
            keys.append(aKey)
            names.append(name)
            values.append(anObject)
            used += 1
            arrangement += 1
        }
    }

    override func removeObject(forKey aKey: Any) {
        guard let key = aKey as? AnyHashable, let place = place(of: key) else { return }
        keys.remove(at: place)
        names.remove(at: place)
        values.remove(at: place)
        used -= 1
        arrangement += 1
    }

    override func removeAllObjects() { used = 0 }

    private func place(of key: AnyHashable) -> Int? { keys.prefix(used).firstIndex(of: key) }
}
