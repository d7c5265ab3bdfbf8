import Foundation
import Testing

@testable import RosterCommands

@Suite struct ISO8601TextTests {
    @Test(arguments: [
        ("1930-07-13T00:00:00Z", -2223936000.0), ("2001-01-01T00:00:00Z", 0), ("2000-02-29T12:00:00Z", -26_481_600),
        ("1900-03-01T00:00:00Z", -3182198400), ("0001-01-01T00:00:00Z", -63_113_904_000),
        ("2022-12-18T15:00:00.25Z", 693_068_400.25), ("1999-12-31T23:59:59.5Z", -31_622_400.5),
        ("+12022-12-18T15:00:00Z", 316262588400),
    ]) func knownDates(text: String, interval: Double) {
        let date = Date(timeIntervalSinceReferenceDate: interval)
        #expect(ISO8601Text.text(of: date) == text)
        #expect(ISO8601Text.date(from: text) == date)
    }

    @Test func otherForms() {
        let noon = ISO8601Text.date(from: "2022-12-18T12:00:00Z")
        #expect(noon != nil)
        for text in [
            "2022-12-18T15:00:00+03:00", "2022-12-18T15:00+03", "2022-12-18 12:00", "2022-12-18t07:30:00-0430",
            "2022-12-18T12:00:00,000z",
        ] {
            #expect(ISO8601Text.date(from: text) == noon, "\(text)")
        }
        #expect(ISO8601Text.date(from: "2022-12-18") == noon?.addingTimeInterval(-43_200))
        #expect(ISO8601Text.text(of: noon?.addingTimeInterval(-43_200) ?? Date(), omitsMidnight: true) == "2022-12-18")
    }

    @Test(arguments: [
        "", "2022", "2022-13-01", "2022-02-29", "2022-12-32", "18.12.2022", "2022-12-18T", "2022-12-18T25:00",
        "2022-12-18T12:60", "2022-12-18T12:00:00+99:00", "2022-12-18T12:00:00 Europe/Paris", "2022-12-18x", "22-12-18",
        "2022-12-18T12:00:00.", "1900-02-29",
    ]) func refused(text: String) {
        #expect(ISO8601Text.date(from: text) == nil)
    }

    @Test func agreesWithFoundationAndRoundTrips() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<5000 {
            let whole = random.number(below: 8_000_000_000) - 4_000_000_000
            let date = Date(timeIntervalSinceReferenceDate: Double(whole))
            let text = ISO8601Text.text(of: date)
            #expect(text == date.formatted(.iso8601))
            #expect(ISO8601Text.date(from: text) == date)
            // Microseconds are finer than the resolution of values of this size.
            let fine = Double(whole) + Double(random.number(below: 1_000_000)) / 1e6
            let fineDate = Date(timeIntervalSinceReferenceDate: fine)
            #expect(ISO8601Text.date(from: ISO8601Text.text(of: fineDate)) == fineDate, "\(fine) seed 7")
        }
    }
}
