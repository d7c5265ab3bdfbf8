import Foundation
import ModelFiles
import SQLiteAccess
import Testing

@testable import CoreData

/// A colour class of an app, stored as three bytes.
private final class Colour: NSObject, @unchecked Sendable {
    let bytes: [UInt8]
    init(_ bytes: [UInt8]) { self.bytes = bytes }
    override func isEqual(_ object: Any?) -> Bool { (object as? Colour)?.bytes == bytes }
    override var hash: Int { bytes.hashValue }
}

private final class ColourTransformer: ValueTransformer, @unchecked Sendable {
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override func transformedValue(_ value: Any?) -> Any? { (value as? Colour).map { Data($0.bytes) } }
    override func reverseTransformedValue(_ value: Any?) -> Any? { (value as? Data).map { Colour([UInt8]($0)) } }
}

/// Found by its name, without registration.
final class TextTransformer: ValueTransformer, NamedValueTransformer, @unchecked Sendable {
    override func transformedValue(_ value: Any?) -> Any? { (value as? String).map { Data($0.utf8) } }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Archived by Foundation, because it is not a property list class.
final class ArchivedPoint: NSObject, NSSecureCoding {
    static let supportsSecureCoding = true
    let x: Int
    init(x: Int) { self.x = x }
    init?(coder: NSCoder) { x = coder.decodeInteger(forKey: "x") }
    func encode(with coder: NSCoder) { coder.encode(x, forKey: "x") }
    override func isEqual(_ object: Any?) -> Bool { (object as? ArchivedPoint)?.x == x }
    override var hash: Int { x }
}

private final class OneWayTransformer: ValueTransformer, @unchecked Sendable {
    override class func allowsReverseTransformation() -> Bool { false }
    override func transformedValue(_ value: Any?) -> Any? { value.map { "\($0)" } }
}

@Suite struct ValueTransformerTests {
    private func harness(_ transformer: String?) throws -> StoreHarness {
        let model = StoreModels.types()
        model.entitiesByName["Thing"]?.attributesByName["transformable"]?.valueTransformerName = transformer
        return try StoreHarness(model)
    }

    private func roundTrip(_ value: NSObject, _ transformer: String?) throws -> (stored: Data, back: NSObject) {
        let harness = try harness(transformer)
        let open = try harness.open()
        let id = try open.insert("Thing", ["transformable": .object(value)])
        guard case .object(let back) = try open.value("transformable", of: id),
            case .blob(let data) = try harness.sql("SELECT ZTRANSFORMABLE FROM ZTHING")[0][0]
        else { throw RoundTripTests.Missing() }
        return (data, back)
    }

    @Test func aRegisteredTransformerMakesTheData() throws {
        let name = NSValueTransformerName("ValueTransformerTestsColour")
        ValueTransformer.setValueTransformer(ColourTransformer(), forName: name)
        #expect(ValueTransformer(forName: name) is ColourTransformer)
        #expect(ValueTransformer.valueTransformerNames().contains(name))
        let (stored, back) = try roundTrip(Colour([1, 2, 3]), name.rawValue)
        #expect(stored == Data([1, 2, 3]))
        #expect(back.isEqual(Colour([1, 2, 3])))
        ValueTransformer.setValueTransformer(nil, forName: name)
        #expect(ValueTransformer(forName: name) == nil)
    }

    @Test func aClassIsFoundByItsName() throws {
        let (stored, back) = try roundTrip(NSString("ä"), NSStringFromClass(TextTransformer.self))
        #expect(stored == Data("ä".utf8))
        #expect(back.isEqual(NSString("ä")))
    }

    @Test(arguments: [
        nil, "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSKeyedUnarchiveFromData",
    ])
    func theArchivingTransformersMakeArchives(_ name: String?) throws {
        let value = NSDictionary(dictionary: [
            "a": [1, 2.5, "x"], "b": NSNull(), "c": Date(timeIntervalSinceReferenceDate: 1),
        ])
        let (stored, back) = try roundTrip(value, name)
        #expect(stored.starts(with: Data("bplist00".utf8)))
        #expect(back.isEqual(value))
    }

    @Test func theSecureOneRefusesOtherClasses() throws {
        let harness = try harness("NSSecureUnarchiveFromData")
        let open = try harness.open()
        #expect {
            try open.insert("Thing", ["transformable": .object(Colour([1]))])
        } throws: {
            code($0) == 134030 && message($0).contains("cannot be archived")
        }
        // An archive of another class reads as nil and is kept.
        let id = try open.insert("Thing", [:])
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: ArchivedPoint(x: 1), requiringSecureCoding: false)
        _ = try harness.sql("UPDATE ZTHING SET ZTRANSFORMABLE = ?", [.blob(archive)])
        #expect(try open.value("transformable", of: id).isNull)
    }

    @Test(arguments: [nil, "NSSecureUnarchiveFromData"]) func damagedArchivesReadAsNothing(_ name: String?) throws {
        let harness = try harness(name)
        let open = try harness.open()
        let id = try open.insert("Thing", ["transformable": .object(NSArray(array: ["a", "b"]))])
        guard case .blob(let whole) = try harness.sql("SELECT ZTRANSFORMABLE FROM ZTHING")[0][0] else {
            Issue.record("no bytes")
            return
        }
        var generator = SeededNumbers(seed: 7)
        var unreadable = 0
        for _ in 0..<300 {
            var damaged = whole
            damaged[Int.random(in: 0..<whole.count, using: &generator)] = .random(in: 0...255, using: &generator)
            _ = try harness.sql("UPDATE ZTHING SET ZTRANSFORMABLE = ?", [.blob(damaged)])
            if try open.value("transformable", of: id) == .null { unreadable += 1 }
        }
        #expect(unreadable > 30, "\(unreadable) of 300")
        // The previous values have no effect.
        _ = try harness.sql("UPDATE ZTHING SET ZTRANSFORMABLE = ?", [.blob(whole)])
        #expect(try open.value("transformable", of: id) == .object(NSArray(array: ["a", "b"])))
    }

    /// An archive of an array that contains itself: Foundation would recurse until the stack overflows.
    @Test(arguments: [nil, "NSSecureUnarchiveFromData"]) func anArchiveThatContainsItselfReadsAsNothing(
        _ name: String?
    ) throws {
        var builder = KeyedArchiveBuilder()
        let inner = builder.reserve()
        let outer = builder.array([inner, inner])
        builder.define(inner, ["NSArray", "NSObject"], ["NS.objects": .array([outer])])
        let harness = try harness(name)
        let open = try harness.open()
        let id = try open.insert("Thing", [:])
        _ = try harness.sql("UPDATE ZTHING SET ZTRANSFORMABLE = ?", [.blob(builder.finish(root: outer))])
        #expect(try open.value("transformable", of: id).isNull)
    }

    @Test func deepNestingIsReadToALimit() throws {
        func isWithinTheLimit(_ depth: Int) throws -> Bool {
            var builder = KeyedArchiveBuilder()
            var root = builder.array([])
            for _ in 1..<depth { root = builder.array([root]) }
            var nesting = ArchiveNesting(archive: try KeyedArchive(builder.finish(root: root)))
            return nesting.isWithin(512)
        }
        #expect(try isWithinTheLimit(400))
        #expect(try !isWithinTheLimit(600))
    }

    /// Nested lists with two references to the next one are read up to a limit, because walking deeper ones would not
    /// end.
    @Test(arguments: [(10, true), (60, false)]) func listsThatShareEachOtherAreReadToALimit(
        _ depth: Int, _ isRead: Bool
    ) throws {
        var builder = KeyedArchiveBuilder()
        var root = builder.array([])
        for _ in 1..<depth { root = builder.array([root, root]) }
        let list = KeyedArchiveCoding.object(in: builder.finish(root: root), classes: nil) as? NSArray
        #expect(list?.count == (isRead ? 2 : nil))
    }

    /// Attributes over the whole text, over a part, and on an empty text. Foundation writes the first and last form but
    /// cannot read them.
    @Test(arguments: ["", "plain 😀", "a text of parts"]) func textsWithAttributesAreReadBack(_ string: String) throws {
        let key = NSAttributedString.Key("style")
        let text = NSMutableAttributedString(string: string)
        if string.hasPrefix("plain") {
            text.addAttribute(key, value: "bold", range: NSRange(location: 0, length: text.length))
        }
        if string.hasPrefix("a ") { text.addAttribute(key, value: "bold", range: NSRange(location: 2, length: 4)) }
        let back = try #require(try roundTrip(text, nil).back as? NSAttributedString)
        #expect(back.string == string)
        for place in 0..<text.length {
            let style = { (text: NSAttributedString) in text.attribute(key, at: place, effectiveRange: nil) as? String }
            #expect(style(back) == style(text))
        }
    }

    @Test func objectsOfTheProgramAreArchivedToo() throws {
        let (stored, back) = try roundTrip(ArchivedPoint(x: 3), nil)
        #expect(stored.starts(with: Data("bplist00".utf8)))
        #expect(back.isEqual(ArchivedPoint(x: 3)))
    }

    @Test func aValueThatCannotBeArchivedIsAnError() throws {
        let harness = try harness(nil)
        defer { withExtendedLifetime(harness) {} }
        let open = try harness.open()
        #expect {
            try open.insert("Thing", ["transformable": .object(NSArray(array: ["a", Colour([1])]))])
        } throws: {
            code($0) == 134030 && message($0).contains("cannot be archived")
        }
    }

    private struct SeededNumbers: RandomNumberGenerator {
        var state: UInt64
        init(seed: UInt64) { state = seed }
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    @Test func aTransformerThatReturnsNilIsAnError() throws {
        let name = NSValueTransformerName("ValueTransformerTestsOneWay")
        ValueTransformer.setValueTransformer(OneWayTransformer(), forName: name)
        let harness = try harness(name.rawValue)
        defer { withExtendedLifetime(harness) {} }
        let open = try harness.open()
        #expect {
            try open.insert("Thing", ["transformable": .object(NSString("a"))])
        } throws: {
            code($0) == 134030 && message($0).contains("returned a String instead of data")
        }
    }

    @Test func theOtherTransformersAreThere() {
        #expect(ValueTransformer(forName: .isNilTransformerName)?.transformedValue(nil) as? Bool == true)
        #expect(ValueTransformer(forName: .isNotNilTransformerName)?.transformedValue("a") as? Bool == true)
        #expect(
            ValueTransformer(forName: .negateBooleanTransformerName)?.reverseTransformedValue(true) as? Bool == false)
    }
}
