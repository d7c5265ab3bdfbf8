/// The targets of a program that Xcode builds, found in the paths of its files and in their source.
public struct PackageLayout {
    /// Libraries and programs first, then tests; each part by path.
    private(set) var targets: [PackageTarget] = []
    /// Things left out and renamed, a line each.
    public private(set) var remarks: [String] = []
    /// Packages with modules that the source imports. A product is taken for a module of its name.
    private(set) var packages: [XcodePackage] = []
    /// Folders of packages among them.
    public var localPackages: Set<String> {
        Set(packages.compactMap { if case .folder(let path) = $0.place { path } else { nil } })
    }
    /// Modules that the source imports, and neither a package nor the toolchain nor roster has.
    public var missingModules: [String] {
        let known = Self.present.union(targets.map(\.module)).union(packages.flatMap(\.products))
        return Set(targets.flatMap(\.evidence.imports)).subtracting(known).sorted()
    }
    /// True if no folder has Swift files.
    public var isEmpty: Bool { targets.isEmpty }

    /// True if a folder of that path counts as one thing, such as a model.
    public static func isWholeFolder(_ path: String) -> Bool {
        PackageTarget.wholeFolders.contains(PackageTarget.suffix(of: path))
    }

    /// Modules of the toolchain, and those of roster that a program may import.
    private static let present: Set<String> = [
        "Swift", "Foundation", "FoundationNetworking", "FoundationXML", "FoundationEssentials",
        "FoundationInternationalization", "Dispatch", "XCTest", "Testing", "Glibc", "Synchronization", "Observation",
        "RegexBuilder", "Distributed", "CxxStdlib", "Cxx", "_Concurrency", "_StringProcessing", "CoreData",
    ]
    /// The other modules of a program that uses CoreData: a package cannot have two of one name.
    private static let taken: Set<String> = [
        "SQLiteAccess", "PredicateSyntax", "CoreDataPredicates", "ModelFiles", "ModelCompiler", "ManagedExpansion",
        "ManagedMacros", "CSQLite3", "CZlib", "CPrefetch",
    ]

    /// - Parameters:
    ///   - name: of the program, for a target whose folder has none.
    ///   - paths: of all its files and of those folders that count as one thing, relative to it. Folders end in a slash.
    ///   - packages: those of the Xcode project.
    ///   - source: The contents of each Swift file, ported.
    public init(
        name: String, paths: [String], packages: [XcodePackage] = [], source: (String) throws -> [UInt8]
    ) rethrows {
        let swift = paths.filter { $0.hasSuffix(".swift") && $0.split(separator: "/").first != "Package.swift" }
        var evidence: [String: TargetEvidence] = [:]
        for path in swift {
            evidence[path] = TargetEvidence(try source(path), name: String(PackageTarget.name(of: path)))
        }
        let grouping = PackageGrouping(paths: paths, swift: swift, evidence: evidence)
        for place in grouping.places {
            let target = grouping.target(at: place, module: Self.module(place, in: name))
            if target.evidence.drivesScreen {
                remarks.append("\(place): left out, since its tests drive a screen of Apple's systems")
            } else {
                targets.append(target)
            }
        }
        targets.sort { ($0.evidence.hasTests ? 1 : 0, $0.path) < ($1.evidence.hasTests ? 1 : 0, $1.path) }
        nameTested()
        nameUniquely(name)
        let foreign = Set(targets.flatMap(\.evidence.imports)).subtracting(targets.map(\.module))
        self.packages = packages.map { XcodePackage(place: $0.place, products: $0.products.intersection(foreign)) }
            .filter { !$0.products.isEmpty }
        for path in grouping.stray where PackageTarget.isModel(path) {
            remarks.append(
                "\(path.dropLast()): left out, since no Swift file is beside it. Move it into the folder of a target")
        }
        for target in targets {
            for file in target.repeatedResources {
                remarks.append("\(target.path)/\(file): left out, since the target has a resource of that name")
            }
        }
    }

    /// The module's name as Xcode makes it of a target's: `_` for what an identifier cannot have.
    private static func module(_ place: String, in program: String) -> String {
        let isUnnamed = [".", "Sources", "Tests"].contains(place)
        let name = isUnnamed ? program + (place == "Tests" ? "Tests" : "") : String(PackageTarget.name(of: place))
        let word = String(name.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
        guard word.contains(where: { $0 != "_" }) else { return "Module" }
        return word.first?.isNumber == true ? "_" + word.dropFirst() : word
    }

    /// A module that tests import with `@testable`, and that no folder is named after, is that of the only folder that nobody imports.
    private mutating func nameTested() {
        let modules = Set(targets.map(\.module))
        let unknown = Set(targets.flatMap(\.evidence.tested)).subtracting(modules)
        let imported = Set(targets.flatMap(\.evidence.imports))
        let candidates = targets.indices.filter {
            !targets[$0].evidence.hasTests && !imported.contains(targets[$0].module)
        }
        if unknown.count == 1, candidates.count == 1, let name = unknown.first { targets[candidates[0]].module = name }
    }

    private mutating func nameUniquely(_ program: String) {
        var used = Self.present.union(Self.taken)
        for index in targets.indices {
            let first = targets[index].module
            var name = first
            if used.contains(name) { name = Self.module(program, in: program) + "_" + first }
            var number = 2
            while used.contains(name) {
                name = "\(first)_\(number)"
                number += 1
            }
            if name != first {
                remarks.append("\(targets[index].path): its module is \(name), since \(first) is taken")
            }
            targets[index].module = name
            used.insert(name)
        }
    }
}

/// The folders of a program that become targets, each with its files.
private struct PackageGrouping {
    private let files: [String: [String]]
    private let evidence: [String: TargetEvidence]
    /// The folders with Swift files, by path.
    let places: [String]
    /// Files that belong to none of them.
    var stray: [String] { files.keys.filter { !places.contains($0) }.sorted().flatMap { files[$0] ?? [] } }

    init(paths: [String], swift: [String], evidence: [String: TargetEvidence]) {
        self.evidence = evidence
        var files: [String: [String]] = [:]
        // `Sources/App.swift` makes Sources a target, `Sources/App/main.swift` makes Sources/App one.
        let whole = Set(swift.map { $0.split(separator: "/") }.filter { $0.count == 2 }.map { $0[0] })
        for path in paths {
            let parts = path.split(separator: "/")
            let isContainer = parts.count > 1 && ["Sources", "Tests"].contains(parts[0]) && !whole.contains(parts[0])
            let depth = min(isContainer ? 2 : 1, parts.count - 1)
            files[depth == 0 ? "." : parts[..<depth].joined(separator: "/"), default: []].append(path)
        }
        var places = files.filter { $0.value.contains { evidence[$0] != nil } }.map(\.key).sorted()
        if places.contains(".") {
            // A program whose source is in the folder itself has the other folders too, as far as they are not modules of their own.
            let all = evidence.values.reduce(into: TargetEvidence()) { $0.formUnion($1) }
            let own = places.filter { place in
                place == "." || all.imports.contains(String(PackageTarget.name(of: place)))
                    || (files[place] ?? []).contains { evidence[$0]?.hasTests == true }
            }
            for (place, added) in files where !own.contains(place) {
                files["."]? += added
                files[place] = nil
            }
            files["."]? += own.filter { $0 != "." }.map { $0 + "/" }
            places = own
        }
        (self.files, self.places) = (files, places)
    }

    func target(at place: String, module: String) -> PackageTarget {
        let paths = (files[place] ?? []).sorted()
        let start = place == "." ? 0 : place.utf8.count + 1
        return PackageTarget(
            path: place, module: module, files: paths.map { String($0.utf8.dropFirst(start)) ?? $0 },
            evidence: paths.reduce(into: TargetEvidence()) { if let next = evidence[$1] { $0.formUnion(next) } })
    }
}
