import Foundation

/// Whether the use of contexts and objects from wrong threads stops the program.
///
/// Switched on by the environment variable `CoreDataConcurrencyDebug` or by Apple's launch argument
/// `-com.apple.CoreData.ConcurrencyDebug 1`.
enum ConcurrencyChecking {
    static let isOn: Bool = {
        if ProcessInfo.processInfo.environment["CoreDataConcurrencyDebug"].map({ $0 != "0" }) == true { return true }
        let arguments = CommandLine.arguments
        guard let index = arguments.firstIndex(of: "-com.apple.CoreData.ConcurrencyDebug") else { return false }
        return index + 1 < arguments.count && arguments[index + 1] != "0"
    }()
}
