/// A folder that becomes a target of a package.
struct PackageTarget {
    /// Relative to the package; `.` for its own folder.
    let path: String
    /// Name of the module.
    var module: String
    /// Its files and those of its folders that count as one thing, relative to it. Folders end in a slash.
    let files: [String]
    let evidence: TargetEvidence

    private enum Role { case source, model, resource, none }

    /// What is compiled with the sources: models, by the package's plugin.
    var hasModel: Bool { files.contains { Self.role(of: $0) == .model } }

    /// Files that are copied into the target's bundle. A bundle has one file of a name.
    var resources: [String] {
        var names: Set<Substring> = []
        return files.filter { Self.role(of: $0) == .resource && names.insert(Self.name(of: $0)).inserted }
    }

    /// Resources that have the name of another one.
    var repeatedResources: [String] {
        let kept = Set(resources)
        return files.filter { Self.role(of: $0) == .resource && !kept.contains($0) }
    }

    /// Files that belong to nothing that is built here.
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

    /// The suffix of a name in small letters; empty if it has none.
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

    /// Suffixes of folders that count as one thing.
    static let wholeFolders: Set<String> = models.union(resourceFolders).union([
        "xcassets", "docc", "xcodeproj", "xcworkspace", "playground", "framework", "xcframework", "app", "imageset",
    ])
}
