import Foundation

/// Writes a message at the default level.
public func os_log(_ message: OSLogMessage, log: OSLog = .default, type: OSLogType = .default) {
    log.write(type, message.text)
}

/// Writes a message at a level.
public func os_log(_ type: OSLogType, log: OSLog = .default, _ message: OSLogMessage) { log.write(type, message.text) }

/// Writes a message with a format and its arguments.
public func os_log(
    _ format: StaticString, log: OSLog = .default, type: OSLogType = .default, _ first: Any?, _ others: Any?...
) {
    log.write(type) { LogFormat(format.description).text([first] + others, output: $0) }
}

/// Writes a message with a format and its arguments at a level.
public func os_log(
    _ type: OSLogType, log: OSLog = .default, _ format: StaticString, _ first: Any?, _ others: Any?...
) {
    log.write(type) { LogFormat(format.description).text([first] + others, output: $0) }
}

/// A format of `os_log`, such as `%{public}@ has %d notes`.
struct LogFormat {
    private let format: String

    init(_ format: String) { self.format = format }

    /// The text with arguments. Numbers are shown, and other arguments where the format has `%{public}`.
    func text(_ arguments: [Any?], output: LogOutput) -> String {
        var rest = arguments[...]
        var result = ""
        var place = format.startIndex
        for match in format.matches(of: /%(?:\{([^}]*)\})?([-+ 0#']*\d*(?:\.\d+)?)(?:hh|h|ll|l|q|z|t|j|L)?([@a-zA-Z%])/)
        {
            result += format[place..<match.range.lowerBound]
            place = match.range.upperBound
            if match.output.3 == "%" {
                result += "%"
            } else if let argument = rest.popFirst() {
                let options = match.output.1.map(String.init) ?? ""
                let value = LoggedValue(
                    text: Self.text(argument, flags: match.output.2, conversion: match.output.3),
                    isScalar: argument.map(LoggedValue.isScalar) ?? true)
                result += value.shown(Self.privacy(options), output: output)
            } else {
                result += "<missing>"
            }
        }
        return result + format[place...]
    }

    private static func privacy(_ options: String) -> OSLogPrivacy {
        if options.contains("public") { return .public }
        let mask = options.contains("mask.hash") ? OSLogPrivacy.Mask.hash : .none
        return options.contains("private") || options.contains("sensitive") ? .private(mask: mask) : .auto(mask: mask)
    }

    /// The text of an argument. The type of the argument decides, so a wrong conversion is harmless.
    private static func text(_ argument: Any?, flags: Substring, conversion: Substring) -> String {
        switch argument {
        case nil: return "(null)"
        case let value as any BinaryInteger where !"@s".contains(conversion):
            let letter = ["x", "X", "o"].contains(conversion) ? String(conversion) : "d"
            return String(format: "%\(flags)ll\(letter)", Int64(truncatingIfNeeded: value))
        case let value as any BinaryFloatingPoint where !"@s".contains(conversion):
            let letter = ["e", "g", "E", "G"].contains(conversion) ? String(conversion) : "f"
            return String(format: "%\(flags)\(letter)", Double(value))
        case let value?: return String(describing: value)
        }
    }
}
