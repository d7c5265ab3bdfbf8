import Foundation

/// The former names of classes of this module in archives of older versions.
package enum FormerArchiveNames {
    /// Registers former class names with Foundation's unarchiver, once.
    package static let areKnown: Void = NSKeyedUnarchiver.setClass(
        NSExpression.self, forClassName: "CoreData.NSExpression")
}
