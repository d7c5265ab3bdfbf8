import CoreData
import Foundation
import Testing

/// Formats with C variadic arguments, as programs pass them on. Uses only the public interface.
@MainActor @Suite struct VariadicArgumentTests {
    private func list(_ format: String, _ arguments: CVarArg...) -> NSPredicate {
        withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
    }

    @Test func valuesAreCastToArgumentsOfC() {
        let id = UUID()
        let date = Date(timeIntervalSinceReferenceDate: 5)
        #expect(
            NSPredicate(format: "id == %@", id as CVarArg).formatString
                == NSPredicate(format: "id == %@", id).formatString)
        #expect(
            NSPredicate(format: "at > %@ AND id IN %@", date as CVarArg, [id] as CVarArg).formatString
                == NSPredicate(format: "at > %@ AND id IN %@", date, [id]).formatString)
        #expect(
            NSPredicate(format: "at > %@", argumentArray: [date as CVarArg]).formatString
                == NSPredicate(format: "at > %@", date).formatString)
    }

    @Test func argumentsArePassedOn() {
        let id = UUID()
        #expect(
            list("%K == %@ AND n == %d AND x < %f AND b == %@", "name", "Ä %d", -3, 0.1, NSNumber(value: 4))
                .formatString == "name == \"Ä %d\" AND n == -3 AND x < 0.1 AND b == 4")
        #expect(
            list("id == %@ AND n == %ld AND m == %lu AND c == %u", id as NSUUID, Int.min, UInt.max, UInt32.max)
                .formatString
                == NSPredicate(
                    format: "id == %@ AND n == %ld AND m == %lu AND c == %u", id as NSUUID, Int.min, UInt.max,
                    UInt32.max
                ).formatString)
        // More arguments than the processor has registers for.
        #expect(
            list("a IN {%d,%d,%d,%d,%d,%d,%d,%d} AND b == %@ AND c == %g", 1, 2, 3, 4, 5, 6, 7, 8, "x", 2.5)
                .formatString == "a IN {1, 2, 3, 4, 5, 6, 7, 8} AND b == \"x\" AND c == 2.5")
        #expect(list("a == 1").formatString == "a == 1")
        let sum = withVaList(["a", 2]) { NSExpression(format: "%K + %d", arguments: $0) }
        #expect(sum.description == NSExpression(format: "a + 2").description)
    }

    @Test func formatsOfTextsPrintObjects() {
        let id = UUID()
        #expect(String(format: "%@ %d %@", id as CVarArg, 3, NSNumber(value: 4)) == "\(id) 3 4")
        #expect(String(format: "%@", "a" as NSString) == "a")
    }
}
