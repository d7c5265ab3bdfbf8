import Foundation

/// The values of a row without gaps, in memory that the row owns. A number takes 8 bytes, a text 16 and a null none,
/// where an array of ``SlotValue`` takes 24 bytes per value.
///
/// The format is: the number of slots (2 bytes), 1 if the row is unsaved (1 byte), a tag of one byte per slot, and from
/// the next whole word the non-null values in slot order. The lower two bits of a tag are the number of words of its
/// value, so the offset of a value is the sum of those before it.
// SAFETY: `words` has memory for the head and the values that the tags describe. Only `Writer` writes them, in slot
// order, so that each offset has an initialised value of its tag's type. The row that owns the words retains them and
// never changes them. Slots are checked against the count.
package struct PackedValues {
    let words: UnsafeMutablePointer<UInt64>

    private enum Tag {
        static let null: UInt8 = 0
        static let integer: UInt8 = 1 << 2 | 1
        static let real: UInt8 = 2 << 2 | 1
        static let decimal: UInt8 = 3 << 2 | 1
        static let object: UInt8 = 4 << 2 | 1
        static let reference: UInt8 = 5 << 2 | 1
        static let text: UInt8 = 6 << 2 | 2
        static let data: UInt8 = 7 << 2 | 2
        static let uuid: UInt8 = 8 << 2 | 2

        static func of(_ value: SlotValue) -> UInt8 {
            switch value {
            case .null: null
            case .integer: integer
            case .real: real
            case .decimal: decimal
            case .object: object
            case .reference: reference
            case .text: text
            case .data: data
            case .uuid: uuid
            }
        }
    }

    private static let headSize = 3

    @inline(__always)
    private var start: UnsafeMutableRawPointer { UnsafeMutableRawPointer(words) }

    @inline(__always)
    var count: Int { Int(start.load(as: UInt16.self)) }

    var isUnsaved: Bool { start.load(fromByteOffset: 2, as: Bool.self) }

    @inline(__always)
    private var tags: UnsafeMutablePointer<UInt8> { (start + Self.headSize).assumingMemoryBound(to: UInt8.self) }

    /// The number of words of the head with `count` tags.
    @inline(__always)
    private static func headWords(_ count: Int) -> Int { (headSize + count + 7) >> 3 }

    // MARK: Reading

    @inline(__always)
    func value(_ slot: Int) -> SlotValue {
        let count = count
        precondition(slot >= 0 && slot < count)
        return Self.value(tags[slot], words + Self.headWords(count) + wordsBefore(slot))
    }

    /// The integer in a slot; `nil` if the value is of another kind.
    @inline(__always)
    func integer(_ slot: Int) -> Int64? { place(of: slot, ifTagged: Tag.integer)?.load(as: Int64.self) }

    /// The real number in a slot; `nil` if the value is of another kind.
    @inline(__always)
    func real(_ slot: Int) -> Double? { place(of: slot, ifTagged: Tag.real)?.load(as: Double.self) }

    /// Calls `body` with the text in a slot, without copying it; `nil` if the value is of another kind.
    @inline(__always)
    func withText<Result>(_ slot: Int, _ body: (borrowing String) -> Result) -> Result? {
        guard let place = place(of: slot, ifTagged: Tag.text) else { return nil }
        return body(place.assumingMemoryBound(to: String.self).pointee)
    }

    @inline(__always)
    func isNull(_ slot: Int) -> Bool {
        precondition(slot >= 0 && slot < count)
        return tags[slot] == Tag.null
    }

    @inline(__always)
    private func place(of slot: Int, ifTagged tag: UInt8) -> UnsafeMutableRawPointer? {
        let count = count
        precondition(slot >= 0 && slot < count)
        guard tags[slot] == tag else { return nil }
        return UnsafeMutableRawPointer(words + Self.headWords(count) + wordsBefore(slot))
    }

    func copy(to values: UnsafeMutableBufferPointer<SlotValue>) {
        var place = words + Self.headWords(count)
        for slot in 0..<count {
            values.initializeElement(at: slot, to: Self.value(tags[slot], place))
            place += Int(tags[slot] & 3)
        }
    }

    /// The number of words of the values before that of `slot`.
    @inline(__always)
    private func wordsBefore(_ slot: Int) -> Int {
        let end = Self.headSize + slot
        var sum = 0
        var tags = UInt64(littleEndian: words[0]) & (~0 << UInt64(Self.headSize * 8))
        for index in 0..<(end >> 3) {
            sum &+= Self.sumOfSizes(tags)
            tags = UInt64(littleEndian: words[index + 1])
        }
        return sum &+ Self.sumOfSizes(tags & ((1 << UInt64((end & 7) * 8)) - 1))
    }

    /// The sum of the sizes in eight tags: the product adds all bytes up in the highest one.
    @inline(__always)
    private static func sumOfSizes(_ tags: UInt64) -> Int {
        Int(((tags & 0x0303_0303_0303_0303) &* 0x0101_0101_0101_0101) >> 56)
    }

    @inline(__always)
    private static func value(_ tag: UInt8, _ place: UnsafeMutablePointer<UInt64>) -> SlotValue {
        let place = UnsafeMutableRawPointer(place)
        switch tag {
        case Tag.integer: return .integer(place.load(as: Int64.self))
        case Tag.real: return .real(place.load(as: Double.self))
        case Tag.text: return .text(place.assumingMemoryBound(to: String.self).pointee)
        case Tag.reference: return .reference(place.assumingMemoryBound(to: NSManagedObjectID.self).pointee)
        case Tag.data: return .data(place.assumingMemoryBound(to: Data.self).pointee)
        case Tag.uuid: return .uuid(place.assumingMemoryBound(to: UUID.self).pointee)
        case Tag.decimal: return .decimal(place.assumingMemoryBound(to: NSDecimalNumber.self).pointee)
        case Tag.object: return .object(place.assumingMemoryBound(to: NSObject.self).pointee)
        default: return .null
        }
    }

    // MARK: Initialising and deinitialising

    /// The maximum number of words of `count` values, with the head.
    static func greatestWordCount(_ count: Int) -> Int { headWords(count) + count * 2 }

    /// Writes values one after the other. Slots that were not written are null.
    package struct Writer {
        private let values: PackedValues
        private var slot = 0
        private var place: UnsafeMutableRawPointer

        /// - Parameter words: Memory for the maximum number of words of `count` values.
        /// - Precondition: `count` is below 65,536.
        @inline(__always)
        init(_ words: UnsafeMutablePointer<UInt64>, count: Int, isUnsaved: Bool) {
            values = PackedValues(words: words)
            // The rest of the last word of tags is read together with them.
            let headWords = PackedValues.headWords(count)
            words.initialize(repeating: 0, count: headWords)
            values.start.storeBytes(of: UInt16(count), as: UInt16.self)
            values.start.storeBytes(of: isUnsaved, toByteOffset: 2, as: Bool.self)
            place = UnsafeMutableRawPointer(words + headWords)
        }

        /// The number of words written, with the head.
        @inline(__always)
        var wordCount: Int { (place - values.start) >> 3 }

        @inline(__always)
        package mutating func append(_ value: consuming SlotValue) {
            assert(slot < values.count, "A slot must be less than the number of values.")
            let tag = Tag.of(value)
            values.tags[slot] = tag
            PackedValues.initialize(place, to: value)
            place += Int(tag & 3) * 8
            slot += 1
        }

        /// Appends a text, or null. Moves the text to its place; one wrapped in a `SlotValue` would be copied.
        @inline(__always)
        mutating func append(text: consuming String?) {
            guard let text else { return append(.null) }
            assert(slot < values.count, "A slot must be less than the number of values.")
            values.tags[slot] = Tag.text
            place.initializeMemory(as: String.self, to: text)
            place += Int(Tag.text & 3) * 8
            slot += 1
        }
    }

    @inline(__always)
    private static func initialize(_ place: UnsafeMutableRawPointer, to value: consuming SlotValue) {
        switch value {
        case .null: break
        case .integer(let number): place.initializeMemory(as: Int64.self, to: number)
        case .real(let number): place.initializeMemory(as: Double.self, to: number)
        case .text(let text): place.initializeMemory(as: String.self, to: text)
        case .reference(let id): place.initializeMemory(as: NSManagedObjectID.self, to: id)
        case .data(let data): place.initializeMemory(as: Data.self, to: data)
        case .uuid(let uuid): place.initializeMemory(as: UUID.self, to: uuid)
        case .decimal(let number): place.initializeMemory(as: NSDecimalNumber.self, to: number)
        case .object(let object): place.initializeMemory(as: NSObject.self, to: object)
        }
    }

    func deinitialize() {
        var place = UnsafeMutableRawPointer(words + Self.headWords(count))
        for slot in 0..<count {
            let tag = tags[slot]
            switch tag {
            case Tag.text: place.assumingMemoryBound(to: String.self).deinitialize(count: 1)
            case Tag.data: place.assumingMemoryBound(to: Data.self).deinitialize(count: 1)
            case Tag.decimal, Tag.object, Tag.reference:
                place.assumingMemoryBound(to: AnyObject.self).deinitialize(count: 1)
            default: break
            }
            place += Int(tag & 3) * 8
        }
    }
}
