import CoreData
import Foundation

// Texts of many scripts, and values at the bounds of their types, are read as they were saved, and are found.
extension StoreConformance {
    static let boundsScenarios = [
        Scenario("keeps texts of many scripts", keepsTexts),
        Scenario("keeps values at the bounds of their types", keepsBounds),
        Scenario("keeps binary data of all sizes", keepsBinaryData),
    ]

    /// Texts with different code points, some of which Swift compares as equal.
    private static let texts: [String] = [
        "", " ", "  lead and trail\t\n", "\n", "\r", "\r\n", "a\nb\rc\r\nd", "中文字符", "漢字かな交じり文", "한글",
        "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}", "𠀀𠮷𪚥", "العربية مرحبا", "\u{202B}عربى\u{202C}",
        "שָׁלוֹם", "नमस्ते", "ก็ำ", "é", "e\u{301}", "Å", "A\u{30A}", "\u{212B}", "q\u{323}\u{307}", "q\u{307}\u{323}",
        "ﬁ", "fi", "ß", "SS", "ss", "İ", "i\u{307}", "ı", "Σ", "σ", "ς", "👍🏽", "👨‍👩‍👧‍👦", "🇨🇳🇩🇪", "❤️", "❤",
        "Z\u{338}\u{321}\u{31B}a\u{335}l\u{334}", "\u{FEFF}mark", "a\u{200D}b", "a\u{200B}b", "\u{2028}\u{2029}\u{85}",
        "\u{1}\u{2}\u{1F}", "\u{7F}\u{80}\u{9F}", "\u{E000}\u{FFFD}", "\u{FFFE}\u{FFFF}", "\u{10FFFF}",
        "<a b=\"c\">&amp;]]>",
        "'one' \"two\" `three`", "%_\\*?[x]", "a,b;c|d", "NULL", "nil", "0", "-1", "true",
        String(repeating: "汉", count: 20_000),
    ]

    private static func scalars(_ text: String?) -> [UInt32]? { text.map { $0.unicodeScalars.map(\.value) } }

    @Sendable private static func keepsTexts(_ stack: StoreConformance) throws {
        try stack.inContext { context in
            for (number, text) in texts.enumerated() {
                context.make("Sample", named: text, "text").setValue(number, forKey: "large")
            }
            try context.save()
        }
        try stack.inEachState { context in
            let all = try context.all("Sample", by: "large")
            try expect(all.count, texts.count, "the texts")
            for (sample, text) in zip(all, texts) {
                try expect(scalars(sample.text("text")), scalars(text), "the code points of '\(text.prefix(20))'")
            }
            for text in texts {
                let found = try context.all("Sample", where: NSPredicate(format: "text == %@", text))
                try expect(found.map { scalars($0.text("text")) }, [scalars(text)], "what equals '\(text.prefix(20))'")
            }
            for operation in ["==[cd]", "BEGINSWITH", "CONTAINS[c]", "ENDSWITH[d]", "<", ">="] {
                for text in ["中文字符", "é", "a", "σ", "\u{301}", "\u{FEFF}", "👍", "عربى"] {
                    let predicate = NSPredicate(format: "text \(operation) %@", text)
                    try expect(
                        try context.all("Sample", where: predicate, by: "large").map(\.objectID),
                        all.filter { predicate.evaluate(with: $0) }.map(\.objectID), "what \(operation) '\(text)' finds"
                    )
                }
            }
            let order = [NSSortDescriptor(key: "text", ascending: true)]
            let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
            request.sortDescriptors = order
            try expect(
                try context.fetch(request).map { $0.value(forKey: "large") as? Int },
                all.sorted(using: order).map { $0.value(forKey: "large") as? Int }, "the order of the texts")
        }
    }

    private static func bounds() throws -> [(key: String, values: [Any])] {
        func dates(_ seconds: Double...) -> [Any] { seconds.map { Date(timeIntervalSinceReferenceDate: $0) } }
        let decimals = [
            "0", "-0.1", "0.3", "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999",
            "0.00000000000000000000000000000000000001", "123456789012345678.90123456789012345678", "1e127", "-1e127",
            "1e-127", "9007199254740993", "1.5e20",
        ]
        let places = [
            "https://user:pw@example.org:8443/a%20b/?q=%E4%BD%A0&x=1#part", "mailto:a@example.org",
            "file:///tmp/%E6%96%87%E4%BB%B6", "urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66", "relative/path?x=%25",
            "data:text/plain;base64,SGk=", "x-coredata://STORE/Author/p1",
            "https://example.org/" + String(repeating: "long/", count: 1_000),
        ]
        return [
            ("small", [Int16.min, Int16.max, 0]), ("medium", [Int32.min, Int32.max, -1]),
            ("large", [Int64.min, Int64.max, 1 << 53 + 1]),
            (
                "real",
                [
                    Double.greatestFiniteMagnitude, -Double.greatestFiniteMagnitude, Double.leastNonzeroMagnitude,
                    Double.leastNormalMagnitude, Double.infinity, -Double.infinity, 0.1 + 0.2, 0.0, 1e22,
                ]
            ),
            (
                "single",
                [
                    Float.greatestFiniteMagnitude, Float.leastNonzeroMagnitude, -Float.infinity, Float(0.1),
                    Float(16_777_217),
                ]
            ),
            ("flag", [true, false]), ("price", decimals.map { NSDecimalNumber(string: $0) }),
            (
                "moment",
                [Date.distantPast, Date.distantFuture]
                    + dates(0, -0.000001, 1e-9, -978_307_200, 252_455_615_999.999, -1e11, 445_103_622.123456)
            ),
            (
                "id",
                try ["00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"].map {
                    try need(UUID(uuidString: $0), "a UUID")
                } + [UUID()]
            ),
            ("place", try places.map { try need(URL(string: $0), "a URL") }),
        ]
    }

    private static func object(_ value: Any?) -> NSObject? {
        value as? NSObject ?? value.flatMap { $0 as AnyObject as? NSObject }
    }

    @Sendable private static func keepsBounds(_ stack: StoreConformance) throws {
        let bounds = try bounds()
        try stack.inContext { context in
            for (key, values) in bounds {
                for (number, value) in values.enumerated() {
                    context.make("Sample", named: "\(key) \(number)", "text").setValue(value, forKey: key)
                }
            }
            try context.save()
        }
        try stack.inEachState { context in
            let all = try context.all("Sample")
            let known = Dictionary(all.map { ($0.text("text") ?? "", $0) }) { first, _ in first }
            for (key, values) in bounds {
                for (number, value) in values.enumerated() {
                    let kept = try need(known["\(key) \(number)"], "the row of \(key) \(number)").value(forKey: key)
                    try expect(object(kept), object(value), "the value \(number) of \(key)")
                    // Equal values, and greater values.
                    for operation in ["==", ">"] where key != "flag" || operation == "==" {
                        guard operation == "==" || !["id", "place"].contains(key) else { continue }
                        let predicate = NSPredicate(format: "\(key) \(operation) %@", argumentArray: [value])
                        try expect(
                            try context.all("Sample", where: predicate, by: "text").compactMap { $0.text("text") },
                            all.filter { predicate.evaluate(with: $0) }.compactMap { $0.text("text") }.sorted(),
                            "what is \(operation) the value \(number) of \(key)")
                    }
                }
                let order = [
                    NSSortDescriptor(key: key, ascending: false), NSSortDescriptor(key: "text", ascending: true),
                ]
                let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
                request.sortDescriptors = order
                try expect(
                    try context.fetch(request).map { $0.text("text") },
                    all.sorted(using: order).map { $0.text("text") },
                    "the order by \(key)")
            }
        }
        // A value that changes to another bound, and one that is removed.
        try stack.inContext { context in
            for (key, values) in bounds {
                let samples = try context.all(
                    "Sample", where: NSPredicate(format: "text BEGINSWITH %@", key), by: "text")
                samples.first?.setValue(values.last, forKey: key)
                samples.last?.setValue(nil, forKey: key)
            }
            try context.save()
        }
        try stack.inEachState { context in
            for (key, values) in bounds {
                let samples = try context.all(
                    "Sample", where: NSPredicate(format: "text BEGINSWITH %@", key), by: "text")
                try expect(object(samples.first?.value(forKey: key)), object(values.last), "\(key) after a change")
                try expect(samples.last?.value(forKey: key) == nil, "\(key) that was set to nil is nil")
            }
        }
    }

    @Sendable private static func keepsBinaryData(_ stack: StoreConformance) throws {
        let sizes = [0, 1, 255, 4_096, 100 << 10, 100 << 10 + 1, stack.largestData]
        func data(_ size: Int, _ salt: UInt8) -> Data {
            var data = Data(capacity: size + 4_096)
            let block = Data((0..<4_096).map { UInt8(truncatingIfNeeded: $0 % 251) ^ salt })
            while data.count < size { data.append(block) }
            return Data(data.prefix(size))
        }
        func check(_ salt: UInt8, _ context: NSManagedObjectContext) throws {
            for (entity, key) in [("Attachment", "name"), ("Sample", "text")] {
                let all = try context.all(entity)
                try expect(all.count, sizes.count + 1, "the rows of \(entity)")
                for row in all {
                    let size = row.text(key).flatMap { Int($0) }
                    let kept = row.value(forKey: "bytes") as? Data
                    try expect(kept?.count, size, "the size of the data of \(entity)")
                    try expect(
                        kept == size.map { data($0, salt) }, "the data of \(size ?? -1) bytes of \(entity) are whole")
                }
            }
        }
        try stack.inContext { context in
            for (entity, key) in [("Attachment", "name"), ("Sample", "text")] {
                _ = context.make(entity)
                for size in sizes {
                    context.make(entity, named: "\(size)", key).setValue(data(size, 0), forKey: "bytes")
                }
            }
            try context.save()
        }
        try stack.inEachState { try check(0, $0) }
        try stack.inContext { context in
            for row in try context.all("Attachment") + context.all("Sample") {
                guard let old = row.value(forKey: "bytes") as? Data else { continue }
                row.setValue(data(old.count, 0xA5), forKey: "bytes")
            }
            try context.save()
        }
        try stack.inEachState { try check(0xA5, $0) }
    }
}
