import Foundation
import Testing

@testable import CoreData

/// Numbers in C variadic arguments, formatted by the C library in any locale.
@Suite struct VariadicNumberTests {
    @Test(arguments: [
        0, -0.0, 0.1, 1, 1.5, -2.5e-300, .pi, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity,
    ])
    func thePointIsTheLocales(_ number: Double) {
        let printed = withVaList([number]) { arguments in
            var buffer = [CChar](repeating: 0, count: 64)
            let length = vsnprintf(&buffer, buffer.count, "%a", arguments)
            return String(decoding: buffer.prefix(Int(length)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        for point in [".", ",", "\u{66B}", "\u{FFFD}\u{FFFD}"] {
            let text = printed.replacingOccurrences(of: ".", with: point)
            #expect(VariadicArguments.real(Substring(text)) == number)
        }
    }

    @Test func invalidNumbersAreNil() {
        #expect(VariadicArguments.real("") == nil && VariadicArguments.real("0x1,8,1p+0") == nil)
        #expect(VariadicArguments.real("nan")?.isNaN == true && VariadicArguments.real("-inf") == -.infinity)
    }
}
