import Foundation
import Testing

@testable import CoreData

/// Properties are found by names in any string form.
@Suite struct PropertyPlacesTests {
    @Test(arguments: [0, 1, 10, 300])
    func everyNameIsFound(count: Int) {
        let names = (0..<count).flatMap { ["number\($0)", "attribute with a long name \($0)", "é\($0)"] }
        var places: [String: EntityLayout.Place] = [:]
        for (slot, name) in names.enumerated() { places[name] = .attribute(slot) }
        let table = PropertyPlaces(places)
        for (slot, name) in names.enumerated() {
            #expect(table[name] == .attribute(slot))
            #expect(table[String(decoding: Array(name.utf8), as: UTF8.self)] == .attribute(slot))
            #expect(table[name.decomposedStringWithCanonicalMapping] == .attribute(slot))
            #expect(table[String(name.dropLast()) + "x"] == nil)
        }
        #expect(table[""] == nil && table["number"] == nil && table["e0"] == nil)
    }

    /// Names with the same length, beginning, middle and end, which have the same hash.
    @Test func namesOfOneHashAreFound() {
        let names = (10_000..<30_000).map { "a\($0)bb\(String($0.description.reversed()))a" }
        let table = PropertyPlaces(Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, .attribute($0)) }))
        #expect(names.enumerated().allSatisfy { table[$1] == .attribute($0) })
        #expect(table["a00000bb00000a"] == nil)
    }
}
