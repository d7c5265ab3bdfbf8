/// The result of a macro: the generated code, or the errors in its use.
package enum Expansion: Equatable {
    case code(String)
    case mistakes([Mistake])
}

/// An error in a declaration.
package struct Mistake: Equatable {
    package let message: String
    /// The position, in bytes from the beginning of the declaration's text.
    package let offset: Int
}

/// The context of a declaration, as far as needed to check that an object's property is allowed there.
package enum Surroundings: Equatable {
    case ofObject
    case local
    case ofAnotherType(String)
    case topLevel

    /// - Parameter contexts: The texts of the enclosing declarations, innermost first, without their other members.
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

    /// The error message for the attribute with that name; `nil` if it is allowed here.
    func mistake(_ attribute: String) -> String? {
        switch self {
        case .ofObject: nil
        case .local: "'@\(attribute)' is for members of a managed object; it cannot be local"
        case .topLevel:
            "'@\(attribute)' is for members of a managed object; move it into the class or an extension of it"
        case .ofAnotherType(let kind):
            "'@\(attribute)' is for subclasses of NSManagedObject; this is a member of a type declared as '\(kind)'"
        }
    }
}

/// Conversions of property names that are part of other names.
enum PropertyName {
    /// The string literal of a text.
    static func literal(_ name: String) -> String {
        "\"" + name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// `players` for `Players`.
    static func uncapitalized(_ name: Substring) -> String { name.prefix(1).lowercased() + name.dropFirst() }

    /// The property name after `prefix` in a name, if it is capitalised like property names inside of other names.
    static func key(in name: Substring, after prefix: String, before suffix: String = "") -> String? {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix), name.count > prefix.count + suffix.count else {
            return nil
        }
        let key = name.dropFirst(prefix.count).dropLast(suffix.count)
        return key.first?.isLowercase == true ? nil : uncapitalized(key)
    }
}
