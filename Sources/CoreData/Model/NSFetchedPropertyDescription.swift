import Foundation

/// A fetched property: a property whose value is what a fetch request finds. One way, never saved, computed when asked.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
    public required init() {
        super.init()
        isTransient = true
    }
}
