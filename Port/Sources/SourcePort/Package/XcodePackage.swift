/// A package that an Xcode project depends on.
public struct XcodePackage: Sendable {
    /// The location of a package.
    public enum Place: Sendable {
        /// A path relative to the project's folder.
        case folder(String)
        case address(String, Version)
    }

    /// The versions that are accepted.
    public enum Version: Sendable {
        case nextMajor(from: String)
        case nextMinor(from: String)
        case range(from: String, to: String)
        case exact(String)
        case branch(String)
        case revision(String)
    }

    let place: Place
    let products: Set<String>

    /// - Parameter products: Products that the project's targets use.
    public init(place: Place, products: Set<String>) { (self.place, self.products) = (place, products) }

    /// The package's identity in a manifest: the last component of its path or address, without `.git`.
    var identity: String {
        let text =
            switch place {
            case .folder(let path): path
            case .address(let address, _): address
            }
        let last = text.split { "/:".contains($0) }.last ?? ""
        return String(last.hasSuffix(".git") ? last.dropLast(4) : last)
    }

    /// Its entry in the dependencies of a manifest.
    var dependency: String {
        switch place {
        case .folder(let path): ".package(path: \(path.quotedForSwift))"
        case .address(let address, let version): ".package(url: \(address.quotedForSwift), \(version.text))"
        }
    }
}

extension XcodePackage.Version {
    fileprivate var text: String {
        switch self {
        case .nextMajor(let version): "from: \(version.quotedForSwift)"
        case .nextMinor(let version): ".upToNextMinor(from: \(version.quotedForSwift))"
        case .range(let first, let last): "\(first.quotedForSwift)..<\(last.quotedForSwift)"
        case .exact(let version): "exact: \(version.quotedForSwift)"
        case .branch(let name): "branch: \(name.quotedForSwift)"
        case .revision(let hash): "revision: \(hash.quotedForSwift)"
        }
    }
}

extension String {
    /// The string as a Swift literal.
    var quotedForSwift: String {
        let escaped = unicodeScalars.map { scalar in
            switch scalar {
            case "\\", "\"": "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F: "\\u{\(String(scalar.value, radix: 16))}"
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }
}
