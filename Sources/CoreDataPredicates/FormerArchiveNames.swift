import Foundation

/// The names under which classes of this room stand in archives that older versions wrote.
package enum FormerArchiveNames {
    /// Makes Foundation's unarchiver know them, once.
    package static let areKnown: Void = NSKeyedUnarchiver.setClass(
        NSExpression.self, forClassName: "CoreData.NSExpression")
}
