/// The text of a `Package.swift`.
public struct PackageManifest {
    private let name: String
    private let roster: String
    private let layout: PackageLayout

    /// - Parameters:
    ///   - name: of the package.
    ///   - roster: Path or address of the package with `CoreData`.
    public init(name: String, roster: String, layout: PackageLayout) {
        (self.name, self.roster, self.layout) = (name, roster, layout)
    }

    /// The whole file.
    public var text: String {
        """
        // swift-tools-version: 6.3
        import PackageDescription

        let package = Package(
            name: \(quoted(name)),
            dependencies: [\(dependency)],
            targets: [
        \(layout.targets.map(target).joined(separator: "\n"))
            ],
            // The code is older than strict concurrency.
            swiftLanguageModes: [.v5]
        )

        """
    }

    private var isAddress: Bool { roster.contains("://") }

    private var dependency: String {
        isAddress
            ? ".package(url: \(quoted(roster)), branch: \"main\")"
            : ".package(name: \"roster\", path: \(quoted(roster)))"
    }

    /// What the package's products are named by: for an address, its last part.
    private var package: String {
        guard isAddress, let last = roster.split(separator: "/").last else { return quoted("roster") }
        return quoted(String(last.hasSuffix(".git") ? last.dropLast(4) : last))
    }

    private func target(_ target: PackageTarget) -> String {
        let evidence = target.evidence
        let kind = evidence.hasTests ? "testTarget" : evidence.hasEntry ? "executableTarget" : "target"
        var dependencies = layout.targets.map(\.module).filter { evidence.imports.contains($0) && $0 != target.module }
            .map(quoted)
        if target.hasModel || evidence.imports.contains("CoreData") {
            dependencies.append(".product(name: \"CoreData\", package: \(package))")
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

    private func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\", "\"": "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F: "\\u{\(String(scalar.value, radix: 16))}"
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }
}
