import Foundation
import SourcePort

/// The package dependencies in a project file of Xcode.
struct XcodeProject {
    let packages: [XcodePackage]

    /// - Throws: An error if the file is not a property list.
    init(_ bytes: [UInt8]) throws {
        let list = try PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
        let objects = (list as? [String: Any])?["objects"] as? [String: [String: Any]] ?? [:]
        var products: [String: Set<String>] = [:]
        for object in objects.values where object["isa"] as? String == "XCSwiftPackageProductDependency" {
            guard let package = object["package"] as? String, let name = object["productName"] as? String else {
                continue
            }
            products[package, default: []].insert(name)
        }
        packages = products.sorted { $0.key < $1.key }.compactMap { id, products in
            objects[id].flatMap(Self.place).map { XcodePackage(place: $0, products: products) }
        }
    }

    private static func place(_ object: [String: Any]) -> XcodePackage.Place? {
        switch object["isa"] as? String {
        case "XCLocalSwiftPackageReference": return (object["relativePath"] as? String).map { .folder($0) }
        case "XCRemoteSwiftPackageReference":
            guard let address = object["repositoryURL"] as? String,
                let version = version(object["requirement"] as? [String: Any] ?? [:])
            else { return nil }
            return .address(address, version)
        default: return nil
        }
    }

    private static func version(_ requirement: [String: Any]) -> XcodePackage.Version? {
        func value(_ key: String) -> String? { requirement[key] as? String }
        switch value("kind") {
        case "upToNextMajorVersion": return value("minimumVersion").map { .nextMajor(from: $0) }
        case "upToNextMinorVersion": return value("minimumVersion").map { .nextMinor(from: $0) }
        case "exactVersion": return value("version").map { .exact($0) }
        case "branch": return value("branch").map { .branch($0) }
        case "revision": return value("revision").map { .revision($0) }
        case "versionRange":
            guard let first = value("minimumVersion"), let last = value("maximumVersion") else { return nil }
            return .range(from: first, to: last)
        default: return nil
        }
    }
}
