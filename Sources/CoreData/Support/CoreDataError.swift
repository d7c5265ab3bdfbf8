import Foundation

/// Makes the errors of the framework: `NSError`s of the Cocoa domain with a code of Apple's, one line that says what,
/// where and what to do, and the cause beneath.
///
/// One line for a person goes under `NSLocalizedDescriptionKey`; `reason` repeats it for programs that read Apple's key.
enum CoreDataError {
    static func make(
        _ code: Int, _ message: String, underlying: (any Error)? = nil, userInfo: [String: Any] = [:]
    ) -> NSError {
        var info = userInfo
        info[NSLocalizedDescriptionKey] = message
        if info["reason"] == nil { info["reason"] = message }
        if let underlying { info[NSUnderlyingErrorKey] = underlying as NSError }
        return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: info)
    }
}
