import CoreData
import Foundation
import RosterCommands

/// Settings of the configuration file for the lists of one entity.
struct EntityPreferences: Equatable {
    /// Keys of the columns, from left to right; `nil` to derive them from the model.
    var columns: [String]?
    /// The sort keys, in the syntax of `--sort`.
    var sort: String?
    /// The section levels, in the syntax of `--section`.
    var section: String?
    /// The format of values, by property key.
    var formats: [String: ValueFormat] = [:]

    /// Returns the names of the settings that are invalid for an entity, with the reasons.
    func problems(for entity: NSEntityDescription) -> [(key: String, text: String)] {
        var problems: [(String, String)] = []
        func check(_ setting: String, _ body: () throws -> Void) {
            do { try body() } catch { problems.append((setting, CommandError.line(for: error))) }
        }
        func property(_ name: String) throws {
            guard entity.propertiesByName[name] == nil else { return }
            throw CommandError.misuse(text: EntityKeys.unknown(name, of: entity))
        }
        check("columns") { for name in columns ?? [] { try property(name) } }
        check("section") {
            if let section { try SectionChoice(section).sectionBy(for: entity) }
        }
        check("sort") {
            guard let sort else { return }
            for key in try SortKey.parse(sort) {
                try EntityKeys.attribute(at: key.keyPath, of: entity, for: "sort by")
            }
        }
        for key in formats.keys.sorted() { check("format \(key)") { try property(key) } }
        return problems
    }
}

/// A format that the configuration file sets for values in lists and records.
nonisolated enum ValueFormat: Equatable {
    /// `1,234,567`.
    case grouped
    /// A fixed number of decimal places.
    case decimals(Int)
    /// `12.5 %` for 0.125.
    case percent
    /// `1.2 MB`.
    case bytes
    case hex
    /// A strftime pattern; the time is in UTC.
    case pattern(String)

    /// List of the valid formats, for error messages.
    static let known =
        "grouped, decimals N, percent, bytes, hex, date, time, datetime, year, or a pattern such as %d.%m.%Y"

    init?(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        switch words.first {
        case "grouped" where words.count == 1: self = .grouped
        case "percent" where words.count == 1: self = .percent
        case "bytes" where words.count == 1: self = .bytes
        case "hex" where words.count == 1: self = .hex
        case "date" where words.count == 1: self = .pattern("%Y-%m-%d")
        case "time" where words.count == 1: self = .pattern("%H:%M:%S")
        case "datetime" where words.count == 1: self = .pattern("%Y-%m-%d %H:%M")
        case "year" where words.count == 1: self = .pattern("%Y")
        case "decimals" where words.count == 2:
            guard let places = Int(words[1]), (0...15).contains(places) else { return nil }
            self = .decimals(places)
        default:
            guard text.contains("%") else { return nil }
            self = .pattern(text)
        }
    }

    /// The format as written in a configuration file.
    var text: String {
        switch self {
        case .grouped: "grouped"
        case .decimals(let places): "decimals \(places)"
        case .percent: "percent"
        case .bytes: "bytes"
        case .hex: "hex"
        case .pattern("%Y-%m-%d"): "date"
        case .pattern("%H:%M:%S"): "time"
        case .pattern("%Y-%m-%d %H:%M"): "datetime"
        case .pattern("%Y"): "year"
        case .pattern(let pattern): pattern
        }
    }

    /// The formatted value; `nil` if the format does not apply to the value's type.
    func text(of value: Any?) -> String? {
        if case .pattern(let pattern) = self { return (value as? Date).flatMap { Self.text(of: $0, pattern) } }
        guard let number = value as? NSNumber else { return nil }
        switch self {
        case .grouped: return Self.grouped(number)
        case .decimals(let places): return String(format: "%.\(places)f", number.doubleValue)
        case .percent: return String(format: "%.1f %%", number.doubleValue * 100)
        case .bytes: return Self.bytes(number.doubleValue)
        case .hex: return "0x" + String(UInt64(bitPattern: number.int64Value), radix: 16)
        case .pattern: return nil
        }
    }

    private static func grouped(_ number: NSNumber) -> String {
        let text = number.stringValue
        let sign = text.hasPrefix("-") ? "-" : ""
        let whole = text.dropFirst(sign.count).prefix(while: \.isNumber)
        var result = ""
        for (index, digit) in whole.enumerated() {
            if index > 0, (whole.count - index).isMultiple(of: 3) { result += "," }
            result.append(digit)
        }
        return sign + result + text.dropFirst(sign.count + whole.count)
    }

    private static func bytes(_ count: Double) -> String {
        var size = abs(count)
        var unit = 0
        let units = ["B", "kB", "MB", "GB", "TB", "PB"]
        while size >= 1000, unit + 1 < units.count {
            size /= 1000
            unit += 1
        }
        return (count < 0 ? "-" : "") + String(format: unit == 0 ? "%.0f" : "%.1f", size) + " " + units[unit]
    }

    private static func text(of date: Date, _ pattern: String) -> String? {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        guard abs(seconds) < 1e15 else { return nil }
        var time = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return nil }
        var buffer = [CChar](repeating: 0, count: 256)
        let count = strftime(&buffer, buffer.count, pattern, &parts)
        return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }
}
