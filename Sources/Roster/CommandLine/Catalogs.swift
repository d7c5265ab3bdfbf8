import Foundation

/// Where the program's translations are.
enum Catalogs {
    /// `$ROSTER_LOCALE_DIR`, else `share/locale` beside the folder of the program.
    static var folder: String {
        if let path = ProcessInfo.processInfo.environment["ROSTER_LOCALE_DIR"], !path.isEmpty { return path }
        return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("share/locale").path
    }
}
