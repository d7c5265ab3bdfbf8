import Foundation

/// An entity: the description of a kind of managed object.
open class NSEntityDescription: NSObject {
    open var name: String?
    open var managedObjectClassName: String! = "NSManagedObject"
    open var isAbstract = false
    open internal(set) unowned(unsafe) var managedObjectModel: NSManagedObjectModel!
    open internal(set) unowned(unsafe) var superentity: NSEntityDescription?
    open var userInfo: [AnyHashable: Any]?
    open var versionHashModifier: String?

    /// The properties that the entity itself declares, without the inherited ones.
    var ownProperties: [NSPropertyDescription] = []
    private var compiledLayout: EntityLayout?

    /// Sets the entity's own properties; reads them with the inherited ones.
    open var properties: [NSPropertyDescription] {
        get { (superentity?.properties ?? []) + ownProperties }
        set {
            ownProperties = newValue
            for property in newValue { property.entity = self }
        }
    }

    open var propertiesByName: [String: NSPropertyDescription] {
        Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { _, own in own })
    }

    open var subentities: [NSEntityDescription] = [] {
        didSet { for child in subentities { child.superentity = self } }
    }

    /// The name of the entity at the top of the hierarchy: the one whose table holds the rows.
    var rootName: String? { superentity?.rootName ?? name }

    /// The compiled layout. Made once; the model must not change afterwards.
    var layout: EntityLayout {
        if let compiledLayout { return compiledLayout }
        let names = managedObjectModel.entities.compactMap(\.name).sorted()
        let made = EntityLayout(entity: self, index: names.firstIndex(of: name ?? "") ?? 0)
        compiledLayout = made
        return made
    }

    /// `true` when this is `entity` or a descendant of it.
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        self === entity || superentity?.isKindOf(entity: entity) == true
    }
}
