/// A framework that exists only on Apple's systems, with the names that identify its use.
struct AbsentModule: Sendable {
    /// Name of the module.
    let name: String
    /// Prefixes of names: `UI` matches `UIColor`, because a capital and a lowercase letter follow.
    var prefixes: [String] = []
    var names: Set<String> = []
    /// Advice for declarations that use the module; nil if they are put inside a condition instead.
    var advice: String?
    /// True if an import of the module also imports Foundation.
    var bringsFoundation = true

    static func named(_ name: String) -> AbsentModule? { byName[name] }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// True if a name belongs to this framework.
    func has(_ word: String) -> Bool {
        if names.contains(word) { return true }
        return prefixes.contains { prefix in
            guard word.hasPrefix(prefix) else { return false }
            let rest = word.dropFirst(prefix.count)
            guard let first = rest.first, first.isUppercase, let second = rest.dropFirst().first else { return false }
            return second.isLowercase || rest.contains(where: \.isLowercase)
        }
    }

    private static let appKitNames: Set<String> = [
        "NSAlert", "NSApp", "NSApplication", "NSApplicationDelegate", "NSApplicationMain", "NSArrayController",
        "NSBezierPath",
        "NSBox", "NSButton", "NSCell", "NSCollectionView", "NSCollectionViewDelegate", "NSCollectionViewItem",
        "NSColor",
        "NSComboBox", "NSControl", "NSCursor", "NSDocument", "NSDocumentController", "NSEvent", "NSFont",
        "NSGraphicsContext",
        "NSHostingController", "NSHostingView", "NSImage", "NSImageView", "NSMenu", "NSMenuItem", "NSNib",
        "NSObjectController",
        "NSOpenPanel", "NSOutlineView", "NSOutlineViewDataSource", "NSOutlineViewDelegate", "NSPanel", "NSPasteboard",
        "NSPersistentDocument", "NSPopUpButton", "NSPopover", "NSResponder", "NSSavePanel", "NSScreen", "NSScrollView",
        "NSSplitView", "NSSplitViewController", "NSStackView", "NSStatusBar", "NSStatusItem", "NSStoryboard",
        "NSStoryboardSegue", "NSTableCellView", "NSTableColumn", "NSTableRowView", "NSTableView",
        "NSTableViewDataSource",
        "NSTableViewDelegate", "NSTextField", "NSTextView", "NSToolbar", "NSToolbarItem", "NSTreeController",
        "NSTreeNode",
        "NSUserInterfaceItemIdentifier", "NSView", "NSViewController", "NSViewRepresentable", "NSWindow",
        "NSWindowController", "NSWindowDelegate", "NSWorkspace", "NSArrayControllerDelegate",
    ]

    private static let all: [AbsentModule] = [
        AbsentModule(name: "UIKit", prefixes: ["UI"], names: ["NSLayoutConstraint", "NSTextAttachment"]),
        AbsentModule(name: "AppKit", names: appKitNames),
        AbsentModule(name: "Cocoa", names: appKitNames),
        AbsentModule(
            name: "SwiftUI", prefixes: ["UI"],
            names: [
                "View", "App", "Scene", "ViewModifier", "ViewBuilder", "PreviewProvider", "ButtonStyle", "LabelStyle",
                "Binding", "State", "StateObject", "ObservedObject", "EnvironmentObject", "Environment",
                "EnvironmentKey",
                "EnvironmentValues", "FetchRequest", "SectionedFetchRequest", "FetchedResults", "SectionedFetchResults",
                "AppStorage", "SceneStorage", "FocusState", "GestureState", "Bindable", "Color", "Image", "Text",
                "List",
                "ForEach", "NavigationView", "NavigationStack", "NavigationSplitView", "WindowGroup", "ScenePhase",
                "LocalizedStringKey", "Animation", "withAnimation", "ToolbarContent", "NSViewRepresentable",
                "NSHostingView",
                "Font", "Transaction",
            ]),
        AbsentModule(name: "CloudKit", prefixes: ["CK"]),
        AbsentModule(name: "CoreSpotlight", prefixes: ["CS"], names: ["NSCoreDataCoreSpotlightDelegate"]),
        AbsentModule(
            name: "WidgetKit",
            names: [
                "Widget", "WidgetBundle", "WidgetCenter", "TimelineProvider", "TimelineEntry", "WidgetConfiguration",
                "IntentTimelineProvider",
            ]),
        AbsentModule(name: "CoreLocation", prefixes: ["CL"]),
        AbsentModule(name: "MapKit", prefixes: ["MK", "CL"]),
        AbsentModule(name: "UserNotifications", prefixes: ["UN"]),
        AbsentModule(name: "StoreKit", prefixes: ["SK"]),
        AbsentModule(name: "AVFoundation", prefixes: ["AV"]),
        AbsentModule(name: "AVKit", prefixes: ["AV"]),
        AbsentModule(name: "Photos", prefixes: ["PH"]),
        AbsentModule(name: "PhotosUI", prefixes: ["PH"]),
        AbsentModule(name: "Contacts", prefixes: ["CN"]),
        AbsentModule(name: "ContactsUI", prefixes: ["CN"]),
        AbsentModule(name: "EventKit", prefixes: ["EK"]),
        AbsentModule(name: "HealthKit", prefixes: ["HK"]),
        AbsentModule(name: "WatchConnectivity", prefixes: ["WC"]),
        AbsentModule(name: "WatchKit", prefixes: ["WK"]),
        AbsentModule(name: "WebKit", prefixes: ["WK"]),
        AbsentModule(name: "SafariServices", prefixes: ["SF"]),
        AbsentModule(name: "MessageUI", prefixes: ["MF"]),
        AbsentModule(name: "QuartzCore", prefixes: ["CA"]),
        AbsentModule(name: "CoreGraphics", names: ["CGImage", "CGContext", "CGColor", "CGPath"]),
        AbsentModule(name: "CoreImage", prefixes: ["CI"]),
        AbsentModule(name: "ImageIO", prefixes: ["CGImage"]),
        AbsentModule(name: "Intents", prefixes: ["IN"]),
        AbsentModule(name: "AppIntents", names: ["AppIntent", "AppEntity", "EntityQuery", "AppShortcutsProvider"]),
        AbsentModule(name: "LocalAuthentication", prefixes: ["LA"]),
        AbsentModule(name: "BackgroundTasks", prefixes: ["BG"]),
        AbsentModule(name: "SystemConfiguration", prefixes: ["SC"]),
        AbsentModule(name: "Network", prefixes: ["NW"]),
        AbsentModule(name: "Security", prefixes: ["Sec"]),
        AbsentModule(name: "UniformTypeIdentifiers", names: ["UTType"]),
        AbsentModule(name: "MobileCoreServices"),
        AbsentModule(name: "CoreServices"),
        AbsentModule(name: "CoreFoundation", bringsFoundation: false),
        AbsentModule(name: "MetricKit", prefixes: ["MX"]),
        AbsentModule(name: "CoreMotion", prefixes: ["CM"]),
        AbsentModule(name: "PDFKit", prefixes: ["PDF"]),
        AbsentModule(name: "QuickLook", prefixes: ["QL"]),
        AbsentModule(
            name: "SwiftData", names: ["ModelContainer", "ModelContext", "PersistentModel", "ModelConfiguration"]),
        AbsentModule(
            name: "CryptoKit", names: ["SHA256", "SHA512", "Insecure", "SymmetricKey", "AES", "HMAC"],
            advice: "CryptoKit is not available. Use the package swift-crypto, which has the same names"),
    ]
}
