import Foundation

/// Text of a value of any class that is the same in every run. The members of dictionaries and sets, whose own order is
/// random, are sorted by their texts.
enum StableText {
    /// - Parameter plain: returns the text of a value without members.
    static func text(of value: Any, plain: (Any) -> String) -> String {
        func text(_ value: Any) -> String { self.text(of: value, plain: plain) }
        func pairs(_ pairs: [(Any, Any)]) -> String {
            let texts = pairs.map { (text($0.0), text($0.1)) }.sorted { $0 < $1 }
            return "{" + texts.map { "\($0.0) = \($0.1)" }.joined(separator: "; ") + "}"
        }
        func members(_ members: [Any], isOrdered: Bool) -> String {
            let texts = members.map(text)
            return isOrdered
                ? "(" + texts.joined(separator: ", ") + ")" : "{(" + texts.sorted().joined(separator: ", ") + ")}"
        }
        switch value {
        case let dictionary as NSDictionary: return pairs(dictionary.map { ($0.key, $0.value) })
        case let dictionary as [AnyHashable: Any]: return pairs(dictionary.map { ($0.key.base, $0.value) })
        case let array as NSArray: return members(array.map { $0 }, isOrdered: true)
        case let array as [Any]: return members(array, isOrdered: true)
        case let set as NSOrderedSet: return members(set.array, isOrdered: true)
        case let set as NSSet: return members(set.allObjects, isOrdered: false)
        case let set as Set<AnyHashable>: return members(set.map(\.base), isOrdered: false)
        default: return plain(value)
        }
    }
}
