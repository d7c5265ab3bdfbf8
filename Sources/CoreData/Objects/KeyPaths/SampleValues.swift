import Foundation

/// Sample values of an attribute's type, for evaluating key paths.
struct SampleValues {
    /// The initial value of an object.
    let blank: SlotValue
    /// A different value.
    let other: SlotValue
    /// Values that computations usually change: by sign, digits, fractions, limits, case, or blanks.
    let odd: [SlotValue]

    /// `nil` for types without sample values.
    init?(_ type: NSAttributeType) {
        switch type {
        case .booleanAttributeType: self.init(.integer(0), .integer(1), [])
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            self.init(.integer(0), .integer(1), [2, 3, 7, 12, 100, 1_234, -5].map(SlotValue.integer))
        case .doubleAttributeType, .floatAttributeType, .dateAttributeType:
            self.init(.real(0), .real(1), Self.reals.map(SlotValue.real))
        case .decimalAttributeType:
            let values = ([0, 1] + Self.reals).map { SlotValue.decimal(NSDecimalNumber(value: $0)) }
            self.init(values[0], values[1], Array(values.dropFirst(2)))
        case .stringAttributeType:
            let long = String(repeating: "lo ", count: 100)
            self.init(.text("a:"), .text("b:"), [" bB ", "", "42", "ÄÉ ß", long].map(SlotValue.text))
        case .URIAttributeType: self.init(.text("a:"), .text("b:"), [.text("http://example.org/b?c#d")])
        case .binaryDataAttributeType:
            self.init(.data(Data()), .data(Data([1])), [.data(Data([1, 2])), .data(Data(count: 100))])
        case .UUIDAttributeType: self.init(.uuid(UUID(uuid: Self.emptyUUID)), .uuid(UUID()), [.uuid(UUID())])
        default: return nil
        }
    }

    private init(_ blank: SlotValue, _ other: SlotValue, _ odd: [SlotValue]) {
        (self.blank, self.other, self.odd) = (blank, other, odd)
    }

    /// Numbers that every floating-point type can represent.
    private static let reals = [0.25, 3, 12_345.5, -1.5]

    private static let emptyUUID: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}
