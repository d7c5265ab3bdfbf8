import Foundation

/// A value passed as a C argument: `NSPredicate(format: "id == %@", id as CVarArg)`.
///
/// On Apple's platforms every object is a `CVarArg`, and bridged values can be cast to it. Foundation on Linux passes
/// only texts, and reads invalid memory if `%@` finds another object. So the value is passed as a text, its
/// description, which `String(format:)` prints as on Apple's platforms. A predicate format unwraps the value.
final class VariadicValue: NSString {
    let value: Any
    private let text: NSString

    init(_ value: Any) {
        self.value = value
        text = NSString(string: "\(value)")
        super.init(stringLiteral: "")
    }

    required init(stringLiteral literal: StaticString) {
        value = "\(literal)"
        text = NSString(string: "\(literal)")
        super.init(stringLiteral: "")
    }

    required init(string: String) {
        value = string
        text = NSString(string: string)
        super.init(stringLiteral: "")
    }

    required convenience init(unicodeScalarLiteral literal: StaticString) { self.init("\(literal)" as Any) }

    required convenience init(extendedGraphemeClusterLiteral literal: StaticString) { self.init("\(literal)" as Any) }

    /// Returns nil: the value is never archived.
    required init?(coder: NSCoder) { nil }

    override var length: Int { text.length }

    override func character(at index: Int) -> unichar { text.character(at: index) }
}

extension NSObject: @retroactive CVarArg, @retroactive _CVarArgObject {
    /// The object as an argument of C formats.
    public var _cVarArgObject: any CVarArg { self is NSString ? self : VariadicValue(self) }

    /// The object's address.
    public var _cVarArgEncoding: [Int] {
        // SAFETY: only an address; the argument list holds the object.
        [Int(bitPattern: Unretained(self).address)]
    }
}

/// A value that C formats take as its bridged object.
public protocol VariadicBridging: _CVarArgObject {}

extension VariadicBridging {
    /// The value as an argument of C formats.
    public var _cVarArgObject: any CVarArg { VariadicValue(self) }

    /// Never called: the argument list uses `_cVarArgObject`.
    public var _cVarArgEncoding: [Int] { [0] }
}

extension UUID: VariadicBridging, @retroactive _CVarArgObject, @retroactive CVarArg {}
extension Date: VariadicBridging, @retroactive _CVarArgObject, @retroactive CVarArg {}
extension URL: VariadicBridging, @retroactive _CVarArgObject, @retroactive CVarArg {}
extension Data: VariadicBridging, @retroactive _CVarArgObject, @retroactive CVarArg {}
extension Decimal: VariadicBridging, @retroactive _CVarArgObject, @retroactive CVarArg {}
extension Array: VariadicBridging, @retroactive _CVarArgObject, @retroactive CVarArg {}
extension Set: VariadicBridging, @retroactive _CVarArgObject, @retroactive CVarArg {}
extension Dictionary: VariadicBridging, @retroactive _CVarArgObject, @retroactive CVarArg {}
