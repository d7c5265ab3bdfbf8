/// A folder that becomes a target of a package.
struct PackageTarget {
    /// Path relative to the package; `.` for the package's folder.
    let path: String
    /// Name of the module.
    var module: String
    /// Relative paths of the target's files, and of folders that are treated like files. Folders end with a slash.
    let files: [String]
    let evidence: TargetEvidence

    private enum Role { case source, model, resource, none }

    /// True if the target has a model, which roster's plugin compiles.
    var hasModel: Bool { files.contains { Self.role(of: $0) == .model } }

    /// Files to copy into the target's bundle. The bundle is flat: only the first file of a name is copied.
    var resources: [String] {
        var names: Set<Substring> = []
        return files.filter { Self.role(of: $0) == .resource && names.insert(Self.name(of: $0)).inserted }
    }

    /// Resources that are not copied because another one has the same name.
    var repeatedResources: [String] {
        let kept = Set(resources)
        return files.filter { Self.role(of: $0) == .resource && !kept.contains($0) }
    }

    /// Files that the target does not use, sorted.
    var excluded: [String] { (files.filter { Self.role(of: $0) == .none } + repeatedResources).sorted() }

    static func isModel(_ file: String) -> Bool { role(of: file) == .model }

    /// The last part of a path, without a slash at its end.
    static func name(of file: String) -> Substring { file.split(separator: "/").last ?? "" }

    private static func role(of file: String) -> Role {
        let suffix = suffix(of: file)
        if models.contains(suffix) { return .model }
        if file.hasSuffix("/") { return resourceFolders.contains(suffix) ? .resource : .none }
        if suffix == "swift" { return .source }
        return unused.contains(suffix) || suffix.isEmpty || name(of: file) == "Info.plist" ? .none : .resource
    }

    /// The suffix of a file name in lowercase, or an empty string.
    static func suffix(of file: String) -> String {
        let name = name(of: file)
        return name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    }

    private static let models: Set<String> = ["xcdatamodeld", "xcdatamodel", "xcmappingmodel"]
    private static let resourceFolders: Set<String> = ["lproj", "momd", "bundle"]
    /// Sources in other languages, and files that only Xcode reads.
    private static let unused: Set<String> = [
        "h", "hpp", "m", "mm", "c", "cc", "cpp", "s", "pch", "modulemap", "metal", "storyboard", "xib", "nib",
        "entitlements", "xcconfig", "xctestplan", "xcprivacy", "intentdefinition", "xcstrings", "md", "rtf",
        "playground", "yml", "yaml", "rb", "sh", "pbxproj", "resolved",
    ]

    /// Suffixes of folders that are treated like files.
    static let wholeFolders: Set<String> = models.union(resourceFolders).union([
        "xcassets", "docc", "xcodeproj", "xcworkspace", "playground", "framework", "xcframework", "app", "imageset",
    ])
}
