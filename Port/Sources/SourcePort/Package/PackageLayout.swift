/// Targets of a package for a program that Xcode builds, derived from the paths and the source of its files.
public struct PackageLayout {
    /// Libraries and programs, then tests, each sorted by path.
    private(set) var targets: [PackageTarget] = []
    /// Messages about files left out and modules renamed.
    public private(set) var remarks: [String] = []
    /// Packages with modules that the source imports. Each product is assumed to be a module of the same name.
    private(set) var packages: [XcodePackage] = []
    /// Paths of the packages that are folders.
    public var localPackages: Set<String> {
        Set(packages.compactMap { if case .folder(let path) = $0.place { path } else { nil } })
    }
    /// Modules that the source imports and that are not in a target, a package, the toolchain or roster, sorted.
    public var missingModules: [String] { absent.subtracting(ShimModule.names).sorted() }
    /// Modules that the source imports and that only the package `Shims` has, sorted.
    public var shims: [String] { absent.intersection(ShimModule.names).sorted() }
    private var absent: Set<String> {
        let known = Self.present.union(targets.map(\.module)).union(packages.flatMap(\.products))
        return Set(targets.flatMap(\.evidence.imports)).subtracting(known)
    }
    /// True if the program has no Swift files, and so no targets.
    public var isEmpty: Bool { targets.isEmpty }

    /// True if a folder of that name is treated like a file, such as a model.
    public static func isWholeFolder(_ path: String) -> Bool {
        PackageTarget.wholeFolders.contains(PackageTarget.suffix(of: path))
    }

    /// Modules of the toolchain, and modules of roster that a program can import.
    private static let present: Set<String> = [
        "Swift", "Foundation", "FoundationNetworking", "FoundationXML", "FoundationEssentials",
        "FoundationInternationalization", "Dispatch", "XCTest", "Testing", "Glibc", "Synchronization", "Observation",
        "RegexBuilder", "Distributed", "CxxStdlib", "Cxx", "_Concurrency", "_StringProcessing", "CoreData",
    ]
    /// Names of modules that every program with CoreData contains, which a target must not use: module names are unique
    /// in a program.
    private static let taken: Set<String> = [
        "SQLiteAccess", "PredicateSyntax", "CoreDataPredicates", "ModelFiles", "ModelCompiler", "ManagedExpansion",
        "ManagedMacros", "CSQLite3", "CZlib", "CPrefetch",
    ]

    /// - Parameters:
    ///   - name: Name of the program, for targets that cannot be named after their folders.
    ///   - paths: Relative paths of all files, and of folders that are treated like files. Folders end with a slash.
    ///   - packages: Packages that the Xcode project depends on.
    ///   - source: Returns the contents of a Swift file after porting.
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
                remarks.append("\(place): left out because its tests use XCUIApplication")
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
                "\(path.dropLast()): left out because its folder has no Swift files. Move it to a target's folder")
        }
        for target in targets {
            for file in target.repeatedResources {
                remarks.append("\(target.path)/\(file): left out because the target has another resource of this name")
            }
        }
    }

    /// The module name that Xcode derives from a target's name: invalid characters become `_`.
    private static func module(_ place: String, in program: String) -> String {
        let isUnnamed = [".", "Sources", "Tests"].contains(place)
        let name = isUnnamed ? program + (place == "Tests" ? "Tests" : "") : String(PackageTarget.name(of: place))
        let word = String(name.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
        guard word.contains(where: { $0 != "_" }) else { return "Module" }
        return word.first?.isNumber == true ? "_" + word.dropFirst() : word
    }

    /// Names a target after the module that tests import with `@testable`, if no folder has the module's name and
    /// exactly one target is not imported.
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
                remarks.append("\(targets[index].path): its module is \(name) because \(first) is taken")
            }
            targets[index].module = name
            used.insert(name)
        }
    }
}

/// Folders of a program that become targets, with their files.
private struct PackageGrouping {
    private let files: [String: [String]]
    private let evidence: [String: TargetEvidence]
    /// Folders with Swift files, sorted by path.
    let places: [String]
    /// Files in folders other than `places`.
    var stray: [String] { files.keys.filter { !places.contains($0) }.sorted().flatMap { files[$0] ?? [] } }

    init(paths: [String], swift: [String], evidence: [String: TargetEvidence]) {
        self.evidence = evidence
        var files: [String: [String]] = [:]
        // With `Sources/App.swift`, Sources is a target. With only `Sources/App/main.swift`, Sources/App is one.
        let whole = Set(swift.map { $0.split(separator: "/") }.filter { $0.count == 2 }.map { $0[0] })
        for path in paths {
            let parts = path.split(separator: "/")
            let isContainer = parts.count > 1 && ["Sources", "Tests"].contains(parts[0]) && !whole.contains(parts[0])
            let depth = min(isContainer ? 2 : 1, parts.count - 1)
            files[depth == 0 ? "." : parts[..<depth].joined(separator: "/"), default: []].append(path)
        }
        var places = files.filter { $0.value.contains { evidence[$0] != nil } }.map(\.key).sorted()
        if places.contains(".") {
            // If there is source in the folder itself, its target includes all folders that are not modules or tests.
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
