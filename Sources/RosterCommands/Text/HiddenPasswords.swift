import Foundation

/// Hides passwords in URLs of servers, even mistyped ones, from other users of the machine and from logs.
public enum HiddenPasswords {
    /// Returns `text` with each password replaced by `***`.
    public static func hidden(_ text: String) -> String {
        var result = text
        for range in ranges(in: text).reversed() { result.replaceSubrange(range, with: "***") }
        return result
    }

    /// Overwrites the passwords in the arguments of this process, which all users of the machine can list. Read the
    /// arguments first.
    // SAFETY: the C library's array of zero-terminated texts belongs to this process until it exits. Called once,
    // before other threads start. Never writes more bytes than the argument has.
    public static func hideArguments() {
        for index in 1..<max(Int(CommandLine.argc), 1) {
            guard let argument = CommandLine.unsafeArgv[index],
                let text = String(validatingCString: argument)
            else { continue }
            for range in ranges(in: text) {
                let start = text.utf8.distance(from: text.startIndex, to: range.lowerBound)
                memset(argument + start, Int32(UInt8(ascii: "*")), text[range].utf8.count)
            }
        }
    }

    /// Ranges of the passwords, in order and without overlaps.
    private static func ranges(in text: String) -> [Range<String.Index>] {
        // The password of a user: from the colon after the name to the last @ before the parameters.
        let ofUser = text.matches(of: /[A-Za-z][A-Za-z0-9+.\-]*:\/{0,3}[^\s:@\/“”]*:([^\s?“”]+)@/).map(\.1)
        let ofParameter = text.matches(of: /password=([^&\s“”]+)/.ignoresCase()).map(\.1)
        let ranges = (ofUser + ofParameter).map { $0.startIndex..<$0.endIndex }
        return ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { found, range in
            if let last = found.last, last.overlaps(range) { return }
            found.append(range)
        }
    }
}
