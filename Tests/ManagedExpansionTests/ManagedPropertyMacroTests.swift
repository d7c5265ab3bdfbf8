import Testing

@testable import ManagedExpansion

/// Expansion of `@Managed`, and its errors where it is not allowed.
@Suite struct ManagedPropertyMacroTests {
    private func expansion(_ text: String, in contexts: [String] = ["extension Team {}"]) -> Expansion {
        ManagedPropertyMacro.expand(text, in: Surroundings(contexts), attributeOffset: 2)
    }

    private func mistakes(_ text: String, in contexts: [String] = ["extension Team {}"]) -> [Mistake] {
        if case .mistakes(let mistakes) = expansion(text, in: contexts) { mistakes } else { [] }
    }

    @Test(arguments: [
        "@Managed var name: String?",
        "\n    /// A comment: with = and { in it.\n    @Managed public internal(set) var name: String?",
        "@available(*, deprecated, message: \"static let = { \\(\"}\") (\") @Managed final var name /* : */ : String?",
        "@Managed private(set) var name: Dictionary<String, (Int) -> [Int]>",
        "@Managed @objc(name) dynamic var `name`: Set<Player>",
        "@A.B<C<D>>(x: [1]) @Managed nonisolated(unsafe) var name: Int // a comment = 5",
    ])
    func accessorsUseTheName(text: String) {
        #expect(
            expansion(text) == .code("get { self[managed: \"name\"] }\nset { self[managed: \"name\"] = newValue }"),
            "\(text)")
    }

    @Test func primitiveAccessorsAreKnownByTheirName() {
        #expect(
            expansion("@Managed var primitiveName: String?")
                == .code(
                    "get { self[primitive: \"primitiveName\"] }\nset { self[primitive: \"primitiveName\"] = newValue }")
        )
        for name in ["primitive", "primitives", "Primitive"] {
            guard case .code(let code) = expansion("@Managed var \(name): Int") else {
                Issue.record("\(name)"); continue
            }
            #expect(code.contains("self[managed: \"\(name)\"]"))
        }
    }

    @Test(arguments: [
        ("@Managed static var name: String?", "static", "cannot be 'static'"),
        ("@Managed class var name: String?", "class", "cannot be 'class'"),
        ("@Managed lazy var name: String?", "lazy", "cannot be 'lazy'"),
        ("@Managed weak var coach: Coach?", "weak", "cannot be 'weak'"),
        ("@Managed let name: String?", "let", "'var name'"),
        ("@Managed var name: String? { nil }", "{", "generates the accessors"),
        ("@Managed var name: String? { didSet { } }", "{", "cannot have observers"),
        ("@Managed var name: String = \"x\"", "=", "cannot have an initial value"),
        ("@Managed var name = \"x\"", "=", "cannot have an initial value"),
        ("@Managed var name", "name", "needs the type of 'name'"),
        ("@Managed var (name, wins): (String, Int)", "var", "not a pattern"),
        ("@Managed subscript(index: Int) -> Int", "subscript", "for variables"),
    ])
    func whatCannotBeIsSaidWithItsPlace(text: String, place: String, message: String) throws {
        let mistake = try #require(mistakes(text).first)
        #expect(mistakes(text).count == 1)
        #expect(mistake.message.contains(message), "\(mistake.message)")
        let found = String(decoding: Array(text.utf8)[mistake.offset...], as: UTF8.self)
        #expect(found.hasPrefix(place), "\(found)")
    }

    @Test(arguments: [
        (["\nfunc work() {}", "class Team {}"], "cannot be local"), (["init() {}"], "cannot be local"),
        ([], "move it into the class"), (["public struct Team {}"], "declared as 'struct'"),
        (["@MainActor\nenum Team: Int {}"], "declared as 'enum'"), (["actor Team {}"], "declared as 'actor'"),
    ])
    func isAllowedInClassesOnly(contexts: [String], message: String) throws {
        let mistake = try #require(mistakes("  @Managed var name: Int", in: contexts).first)
        #expect(mistake.message.contains(message) && mistake.offset == 2)
    }

    @Test(arguments: [
        "public final class Team: NSManagedObject {}", "@objc(Team)\nclass Team: A<B> {}", "extension Outer.Team {}",
    ])
    func isAllowedInClassesAndExtensions(context: String) {
        #expect(mistakes("@Managed var name: Int", in: [context, "enum Space {}"]).isEmpty)
    }
}
