/// A request from the compiler. Each message is an object with one member; its name is the kind of request.
struct PluginRequest: Decodable {
    struct Empty: Decodable {}

    struct Syntax: Decodable {
        struct Location: Decodable {
            let fileName: String
            let offset: Int
        }

        let source: String
        let location: Location?
    }

    struct MacroReference: Decodable {
        let typeName: String
    }

    struct AttachedMacro: Decodable {
        let macro: MacroReference
        let declSyntax: Syntax
        let attributeSyntax: Syntax?
        /// The declarations that enclose this one, innermost first.
        let lexicalContext: [Syntax]?
    }

    let getCapability: Empty?
    let expandAttachedMacro: AttachedMacro?
}

/// A response to the compiler.
enum PluginResponse: Encodable {
    struct Position: Encodable {
        let fileName: String
        let offset: Int
    }

    struct Diagnostic: Encodable {
        let message: String
        let severity = "error"
        let position: Position
        let highlights: [Position] = []
        let notes: [Position] = []
        let fixIts: [Position] = []
    }

    private struct Capability: Encodable {
        struct Values: Encodable {
            /// The version of the plugin protocol that these types implement.
            let protocolVersion = 7
        }

        let capability = Values()
    }

    private struct Result: Encodable {
        let expandedSource: String?
        let diagnostics: [Diagnostic]
    }

    private enum Key: String, CodingKey {
        case getCapabilityResult
        case expandMacroResult
    }

    case capability
    case expansion(String?, [Diagnostic])

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .capability: try container.encode(Capability(), forKey: .getCapabilityResult)
        case .expansion(let source, let diagnostics):
            try container.encode(Result(expandedSource: source, diagnostics: diagnostics), forKey: .expandMacroResult)
        }
    }
}
