import FoundationEssentials
import ManagedExpansion
import Glibc

/// The compiler plugin for `@Managed` and `@ManagedMethod`. Reads requests from standard input until its end and writes
/// responses to standard output. Each message is JSON, preceded by its length as a little-endian 64-bit integer.
@main
enum ManagedMacrosPlugin {
    static func main() throws {
        while let message = nextMessage() {
            send(try JSONEncoder().encode(response(to: message)))
        }
    }

    static func response(to message: Data) -> PluginResponse {
        guard let request = try? JSONDecoder().decode(PluginRequest.self, from: message) else {
            return .expansion(nil, [])
        }
        if request.getCapability != nil { return .capability }
        guard let asked = request.expandAttachedMacro else { return .expansion(nil, []) }
        return response(to: asked)
    }

    private static func response(to asked: PluginRequest.AttachedMacro) -> PluginResponse {
        let start = asked.declSyntax.location
        let surroundings = Surroundings((asked.lexicalContext ?? []).map(\.source))
        let text = asked.declSyntax.source
        // The compiler's location of an attribute is the start of the white space before it.
        let attributeOffset =
            (asked.attributeSyntax?.location?.offset ?? start?.offset ?? 0) - (start?.offset ?? 0)
            + (asked.attributeSyntax?.source.utf8.prefix { $0 != UInt8(ascii: "@") }.count ?? 0)
        let isMethod = asked.macro.typeName == ManagedMethodMacro.attribute
        let expansion =
            isMethod
            ? ManagedMethodMacro.expand(text, in: surroundings, attributeOffset: attributeOffset)
            : ManagedPropertyMacro.expand(text, in: surroundings, attributeOffset: attributeOffset)
        switch expansion {
        case .code(let code): return .expansion(code, [])
        case .mistakes(let mistakes):
            let diagnostics = mistakes.map { mistake in
                PluginResponse.Diagnostic(
                    message: mistake.message,
                    position: .init(fileName: start?.fileName ?? "", offset: (start?.offset ?? 0) + mistake.offset))
            }
            // Code that is valid in place of the expansion, so that the compiler reports no further errors.
            return .expansion(isMethod ? "{ fatalError() }" : "get { fatalError() }", diagnostics)
        }
    }

    // MARK: Messages

    private static func nextMessage() -> Data? {
        guard let head = bytes(8) else { return nil }
        let length = head.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: length).flatMap(bytes)
    }

    // SAFETY: `read` writes at most `wanted` bytes, and the buffer has at least that many.
    private static func bytes(_ count: Int) -> Data? {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: min(count, 1 << 16))
        while data.count < count {
            let wanted = min(buffer.count, count - data.count)
            let got = buffer.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, wanted) }
            guard got > 0 else { return nil }
            data.append(contentsOf: buffer[..<got])
        }
        return data
    }

    // SAFETY: `write` reads the bytes only during the call, and the array is alive until it returns.
    private static func send(_ data: Data) {
        var rest = withUnsafeBytes(of: UInt64(data.count).littleEndian) { Array($0) } + Array(data)
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            guard written > 0 else { return }
            rest.removeFirst(written)
        }
    }
}
