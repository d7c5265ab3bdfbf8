import Foundation

/// Makes the framework's errors: `NSError`s of the Cocoa domain with Apple's codes, a one-line message (what failed,
/// where, and what to do) and the underlying cause.
///
/// The message is stored under `NSLocalizedDescriptionKey`, with control characters of names or causes as visible
/// symbols. `reason` repeats it for programs that read Apple's key.
package enum CoreDataError {
    package static func make(
        _ code: Int, _ message: String, underlying: (any Error)? = nil, userInfo: [String: Any] = [:]
    ) -> NSError {
        let message = onOneLine(message)
        var info = userInfo
        info[NSLocalizedDescriptionKey] = message
        if info["reason"] == nil { info["reason"] = message }
        if let underlying { info[NSUnderlyingErrorKey] = underlying as NSError }
        return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: info)
    }

    /// User-info key for errors of a store that cannot be read until it reconnects.
    package static let storeAwayKey = "isStoreAway"

    static func isOfStoreAway(_ error: any Error) -> Bool { (error as NSError).userInfo[storeAwayKey] != nil }

    /// Returns the text with line breaks and other control characters as visible symbols. Names in models, paths and
    /// SQLite's schema quotations may contain them.
    private static func onOneLine(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            let shown: Unicode.Scalar =
                switch scalar.value {
                case 0..<0x20: Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}"
                case _ where isControl(scalar): "\u{FFFD}"
                default: scalar
                }
            result.unicodeScalars.append(shown)
        }
        return result
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
        default: false
        }
    }
}
