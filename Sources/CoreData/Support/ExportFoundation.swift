/// As on Apple's platforms, a file that imports CoreData also has Foundation. CoreData's declaration wins if both
/// have a name.
@_exported import Foundation
