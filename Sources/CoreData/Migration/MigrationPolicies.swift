import Foundation
import Synchronization

/// Finds the classes of migration policies by their names in mapping models.
enum MigrationPolicies {
    private static let registered = Mutex<[String: NSEntityMigrationPolicy.Type]>([:])

    static func register(_ policyClass: NSEntityMigrationPolicy.Type, forName name: String) {
        registered.withLock { $0[name] = policyClass }
    }

    /// Creates the policy of the mapping.
    ///
    /// - Parameter modules: modules to search if the class name has no module, or another program's.
    /// - Throws: 134170 if the class that the mapping names does not exist.
    static func policy(for mapping: NSEntityMapping, modules: [String]) throws -> NSEntityMigrationPolicy {
        guard let name = mapping.entityMigrationPolicyClassName, !["", "NSEntityMigrationPolicy"].contains(name) else {
            return NSEntityMigrationPolicy()
        }
        let short = name.split(separator: ".").last.map(String.init) ?? name
        let known = registered.withLock { $0[name] ?? $0[short] }
        let names = [name] + (modules + [ModelResources.programModule]).map { "\($0).\(short)" }
        if let found = known ?? names.lazy.compactMap({ NSClassFromString($0) as? NSEntityMigrationPolicy.Type }).first
        {
            return found.init()
        }
        throw CoreDataError.make(
            134170,
            "The mapping \(mapping.name ?? "") needs the migration policy \(name), which is not a class of this program. Name it "
                + "with its module, or call NSEntityMigrationPolicy.register(_:forName:).")
    }
}
