import CoreData
import Foundation

/// Keyed archives in transformable values, of every class that is passed to Foundation.
struct ArchiveTarget: FuzzTarget {
    let seeds: [[UInt8]]
    private let transformer: ValueTransformer

    init() throws {
        var components = DateComponents()
        components.year = 2026
        var values: [NSObject] = [
            NSOrderedSet(array: ["a", "b"]), NSSet(array: ["a", 1]), components as NSDateComponents,
            NSNumber(value: 1.5),
            NSIndexSet(indexesIn: NSRange(2..<9)), NSLocale(localeIdentifier: "de_DE"), NSDate(),
            NSString(string: "é😀"),
            NSDictionary(dictionary: ["k": NSArray(array: [NSUUID(), NSURL(string: "http://a.b/c") as Any])]),
            NSAttributedString(string: "text"), NSDateInterval(start: Date(), duration: 5),
            NSData(data: Data([1, 2, 3])),
            NSCharacterSet(charactersIn: "abc"), NSTimeZone(name: "Europe/Rome") ?? NSNull(), UnitLength.kilometers,
            NSCalendar(identifier: .gregorian) ?? NSNull(), NSMeasurement(doubleValue: 3, unit: UnitLength.meters),
            NSCountedSet(array: ["a", "a"]), NSValue(range: NSRange(1..<3)), NSURLQueryItem(name: "q", value: "v"),
            NSIndexPath(indexes: [1, 2, 3], length: 3),
            try NSRegularExpression(pattern: "a.b"),
        ]
        // Foundation reads archives of mixed classes, but must not be given these two.
        values.append(NSArray(array: values.filter { !($0 is NSAttributedString || $0 is NSURLQueryItem) }))
        seeds = try values.map {
            [UInt8](try NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: false))
        }
        guard let transformer = ValueTransformer(forName: .keyedUnarchiveFromDataTransformerName) else {
            throw WrongAnswer(description: "there is no transformer for archives")
        }
        self.transformer = transformer
    }

    var pieces: [String] {
        [
            "NSArray", "NSError", "NS.objects", "NS.keys", "$class", "$classes", "$null", "NSMutableDictionary",
            "NSObject", "$0",
        ]
    }

    func read(_ bytes: [UInt8]) throws {
        guard let value = transformer.transformedValue(Data(bytes)) else { throw CocoaError(.coderReadCorrupt) }
        // Uses the value as programs do, but not `hash`, which never returns for some of these classes.
        _ = "\(value)".utf8.count
    }
}
