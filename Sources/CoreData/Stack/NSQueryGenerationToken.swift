import Foundation

/// Identifies a state of the stores that a context reads: see `NSManagedObjectContext.setQueryGenerationFrom(_:)`.
///
/// A token keeps its state readable while it exists. Several contexts may be pinned to one token. Copies and archives
/// refer to the same state; an archive can be decoded only while this process still keeps the state. Immutable, safe
/// on any thread.
// SAFETY: immutable, and the generation is sendable.
public final class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    enum Meaning {
        /// The newest state at the time of the first read.
        case current
        case kept(QueryGeneration)
        /// A state that is no longer kept.
        case lost
    }

    let meaning: Meaning

    init(_ meaning: Meaning) { self.meaning = meaning }

    /// The newest state. A context pinned to it keeps the state of its first read.
    public class var current: NSQueryGenerationToken { currentToken }
    private static let currentToken = NSQueryGenerationToken(.current)

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSQueryGenerationToken else { return false }
        switch (meaning, other.meaning) {
        case (.current, .current): return true
        case (.kept(let mine), .kept(let others)): return mine === others
        default: return self === other
        }
    }

    public override var hash: Int {
        switch meaning {
        case .current, .lost: 0
        case .kept(let generation): generation.identifier.hashValue
        }
    }

    public override var description: String {
        switch meaning {
        case .current: "<NSQueryGenerationToken: current>"
        case .kept(let generation): "<NSQueryGenerationToken: \(generation.identifier.uuidString)>"
        case .lost: "<NSQueryGenerationToken: expired>"
        }
    }

    // MARK: Archives

    /// Always `true`.
    public static var supportsSecureCoding: Bool { true }

    public func encode(with coder: NSCoder) {
        guard case .kept(let generation) = meaning else {
            if case .current = meaning { coder.encode(true, forKey: "current") }
            return
        }
        coder.encode(generation.identifier.uuidString as NSString, forKey: "generation")
    }

    public required init?(coder: NSCoder) {
        if coder.decodeBool(forKey: "current") {
            meaning = .current
        } else if let text = coder.decodeObject(of: NSString.self, forKey: "generation").map({ "\($0)" }),
            let identifier = UUID(uuidString: text), let generation = QueryGeneration.kept(identifier)
        {
            meaning = .kept(generation)
        } else {
            meaning = .lost
        }
    }
}
