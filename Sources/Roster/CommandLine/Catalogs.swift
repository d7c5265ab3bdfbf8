import Foundation

/// Location of the program's translations.
enum Catalogs {
    /// The path `$ROSTER_LOCALE_DIR` if it is set, otherwise `../share/locale` relative to the program's folder.
    static var folder: String {
        if let path = ProcessInfo.processInfo.environment["ROSTER_LOCALE_DIR"], !path.isEmpty { return path }
        return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("share/locale").path
    }
}
