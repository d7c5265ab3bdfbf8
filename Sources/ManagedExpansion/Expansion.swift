/// What a macro answers: the code that it stands for, or what is wrong with the place where it stands.
package enum Expansion: Equatable {
    case code(String)
    case mistakes([Mistake])
}

/// Something that is wrong with a declaration.
package struct Mistake: Equatable {
    package let message: String
    /// Where, in bytes from the beginning of the declaration's text.
    package let offset: Int
}

/// Where a declaration stands, as far as it matters whether an object's property can stand there.
package enum Surroundings: Equatable {
    case ofObject
    case local
    case ofAnotherType(String)
    case topLevel

    /// - Parameter contexts: The texts of what the declaration stands in, from the inside out, without what else is in them.
    package init(_ contexts: [String]) {
        guard let inner = contexts.first.map(Declaration.init) else {
            self = .topLevel
            return
        }
        switch inner.keyword?.text {
        case "class", "extension": self = .ofObject
        case "struct", "enum", "actor", "protocol": self = .ofAnotherType(inner.keyword?.text ?? "")
        default: self = .local
        }
    }

    /// What is wrong with it for the attribute of that name.
    func mistake(_ attribute: String) -> String? {
        switch self {
        case .ofObject: nil
        case .local: "'@\(attribute)' stands for a member of a managed object, and cannot be local"
        case .topLevel:
            "'@\(attribute)' stands for a member of a managed object, and belongs into its class or an extension of it"
        case .ofAnotherType(let kind):
            "'@\(attribute)' is for subclasses of NSManagedObject; this is a member of a type declared as '\(kind)'"
        }
    }
}

/// Names of properties as other names are made of them.
enum PropertyName {
    /// The literal of a text.
    static func literal(_ name: String) -> String {
        "\"" + name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// `players` of `Players`.
    static func uncapitalized(_ name: Substring) -> String { name.prefix(1).lowercased() + name.dropFirst() }

    /// What follows `prefix` in a name, if it begins as names of properties do in the middle of other names.
    static func key(in name: Substring, after prefix: String, before suffix: String = "") -> String? {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix), name.count > prefix.count + suffix.count else {
            return nil
        }
        let key = name.dropFirst(prefix.count).dropLast(suffix.count)
        return key.first?.isLowercase == true ? nil : uncapitalized(key)
    }
}
