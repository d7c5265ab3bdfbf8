/// A package that an Xcode project depends on.
public struct XcodePackage: Sendable {
    /// Where it is.
    public enum Place: Sendable {
        /// Relative to the folder of the project.
        case folder(String)
        case address(String, Version)
    }

    /// Which of its versions are taken.
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

    /// - Parameter products: those that the project's targets use.
    public init(place: Place, products: Set<String>) { (self.place, self.products) = (place, products) }

    /// What its products are named by: the last part of its path or address.
    var identity: String {
        let text =
            switch place {
            case .folder(let path): path
            case .address(let address, _): address
            }
        let last = text.split { "/:".contains($0) }.last ?? ""
        return String(last.hasSuffix(".git") ? last.dropLast(4) : last)
    }

    /// Its dependency in a manifest.
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
    /// A string literal of Swift.
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
