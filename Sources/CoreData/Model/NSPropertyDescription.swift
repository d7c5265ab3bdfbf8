import Foundation

/// A property of an entity: the common part of attributes, relationships and fetched properties.
///
/// Mutable until its model is first used by a coordinator.
open class NSPropertyDescription: NSObject {
    open internal(set) unowned(unsafe) var entity: NSEntityDescription!
    open var name: String = ""
    open var isOptional = true
    open var isTransient = false
    open var userInfo: [AnyHashable: Any]?
    open var versionHashModifier: String?
    var explicitRenamingIdentifier: String?
    open var renamingIdentifier: String? {
        get { explicitRenamingIdentifier ?? name }
        set { explicitRenamingIdentifier = newValue }
    }
    open internal(set) var validationPredicates: [NSPredicate] = []
    open internal(set) var validationWarnings: [Any] = []
}
