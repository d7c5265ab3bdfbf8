/// Writes the text of a `Package.swift`.
public struct PackageManifest {
    private let name: String
    private let roster: String
    private let layout: PackageLayout

    /// - Parameters:
    ///   - name: Name of the package.
    ///   - roster: Path or address of the package with `CoreData`.
    public init(name: String, roster: String, layout: PackageLayout) {
        (self.name, self.roster, self.layout) = (name, roster, layout)
    }

    /// The contents of the file.
    public var text: String {
        """
        // swift-tools-version: 6.3
        import PackageDescription

        let package = Package(
            name: \(quoted(name)),
            dependencies: [\(dependencies)],
            targets: [
        \(layout.targets.map(target).joined(separator: "\n"))
            ],
            // Swift 5 mode: the code was written before strict concurrency.
            swiftLanguageModes: [.v5]
        )

        """
    }

    /// The package with `CoreData`.
    private var source: XcodePackage {
        XcodePackage(place: .address(roster, .branch("main")), products: [])
    }

    private var isAddress: Bool { Self.isAddress(roster) }

    /// True for the address of a repository, false for a path.
    public static func isAddress(_ roster: String) -> Bool { roster.contains("://") }

    private var dependencies: String {
        let own = isAddress ? source.dependency : ".package(name: \"roster\", path: \(quoted(roster)))"
        let all = [own] + (hasShims ? [shims] : []) + layout.packages.map(\.dependency)
        return all.count == 1 ? own : "\n" + all.map { "        \($0),\n" }.joined() + "    "
    }

    /// True if targets depend on the package `Shims`. A folder of a repository has no address of its own.
    private var hasShims: Bool { !isAddress && !layout.shims.isEmpty }

    private var shims: String {
        ".package(name: \(quoted(ShimModule.package)), path: \(quoted("\(roster)/\(ShimModule.folder)")))"
    }

    /// Identity of the package with `CoreData`, as a string literal.
    private var package: String { quoted(isAddress ? source.identity : "roster") }

    private func target(_ target: PackageTarget) -> String {
        let evidence = target.evidence
        let kind = evidence.hasTests ? "testTarget" : evidence.hasEntry ? "executableTarget" : "target"
        var dependencies = layout.targets.map(\.module).filter { evidence.imports.contains($0) && $0 != target.module }
            .map(quoted)
        if target.hasModel || evidence.imports.contains("CoreData") {
            dependencies.append(".product(name: \"CoreData\", package: \(package))")
        }
        if hasShims {
            dependencies += layout.shims.filter { evidence.imports.contains($0) }
                .map { ".product(name: \(quoted($0)), package: \(quoted(ShimModule.package)))" }
        }
        for package in layout.packages {
            dependencies += package.products.intersection(evidence.imports).sorted()
                .map { ".product(name: \(quoted($0)), package: \(quoted(package.identity)))" }
        }
        let plugins = target.hasModel ? [".plugin(name: \"GenerateModelClasses\", package: \(package))"] : []
        let lines =
            ["name: \(quoted(target.module))"] + list("dependencies", dependencies)
            + ["path: \(quoted(target.path))"] + list("exclude", target.excluded.map(path))
            + list("resources", target.resources.map { ".copy(\(path($0)))" }) + list("plugins", plugins)
        return "        .\(kind)(\n            " + lines.joined(separator: ",\n            ") + "),"
    }

    private func list(_ label: String, _ elements: [String]) -> [String] {
        elements.isEmpty ? [] : ["\(label): [\(elements.joined(separator: ", "))]"]
    }

    private func path(_ file: String) -> String { quoted(file.hasSuffix("/") ? String(file.dropLast()) : file) }

    private func quoted(_ text: String) -> String { text.quotedForSwift }
}
