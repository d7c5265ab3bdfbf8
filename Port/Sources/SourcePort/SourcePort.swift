/// Rewrites Swift source that was written for Apple's Core Data for use with this framework.
///
/// Works on text, one file at a time. Text that is not understood is kept byte for byte; a note reports it if a person
/// has to do something. Porting the result again changes nothing.
public enum SourcePort {
    /// Rules in the order in which they are applied, with the kinds of their notes.
    private static let rules: [(kind: PortKind, apply: @Sendable (inout PortingWork) -> Void)] = [
        (.excludedFile, { ExcludedFileRule.apply(to: &$0) }),
        // Code that this rule puts inside a condition is only for Apple's systems. The later rules skip it.
        (.framework, { FrameworkRule.apply(to: &$0) }),
        (.attribute, { ManagedAttributeRule.apply(to: &$0) }),
        (.objectiveC, { ObjectiveCRule.apply(to: &$0) }),
        (.initializer, { InitializerRule.apply(to: &$0) }),
        (.attribute, { SendableRule.apply(to: &$0) }),
        (.keyPath, { KeyPathRule.apply(to: &$0) }),
        (.selector, { SelectorRule.apply(to: &$0) }),
        (.request, { RequestCastRule.apply(to: &$0) }),
        (.set, { MutableSetRule.apply(to: &$0) }),
        (.cloud, { CloudContainerRule.apply(to: &$0) }),
        (.className, { ClassNameRule.apply(to: &$0) }),
        (.bundle, { BundleRule.apply(to: &$0) }),
        (.spelling, { SpellingRule.apply(to: &$0) }),
        (.call, { FoundationCallRule.apply(to: &$0) }),
        (.set, { SetRule.apply(to: &$0) }),
        (.observation, { RemarkRule.apply(to: &$0) }),
        // Moves code together with the edits of the rules above.
        (.override, { OverrideRule.apply(to: &$0) }),
        (.importing, { ImportRule.apply(to: &$0) }),
    ]

    /// Ports one file.
    ///
    /// - Parameter facts: Facts about all files of the program, including this one.
    public static func port(_ bytes: [UInt8], knowing facts: PortFacts) -> PortedFile {
        switch SourceReading(bytes) {
        case .problem(let note): return PortedFile(original: bytes, edits: [], notes: [note])
        case .source(let source):
            var work = PortingWork(source, facts)
            for (kind, apply) in rules {
                work.kind = kind
                apply(&work)
            }
            return PortedFile(original: bytes, edits: work.edits.edits, notes: work.notes.sorted { $0.line < $1.line })
        }
    }
}

/// The result of porting a file.
public struct PortedFile: Sendable {
    /// The original bytes of the file.
    public let original: [UInt8]
    /// Edits in the order of the file. They do not overlap.
    public let edits: [SourceEdit]
    /// Places for a person to look at, sorted by their lines in the original.
    public let notes: [PortNote]

    /// The file with the edits applied.
    public var text: [UInt8] { edits.isEmpty ? original : EditList.apply(edits, to: original) }

    /// The edits as a diff.
    ///
    /// - Parameter path: Path of the file in the diff's header.
    public func diff(path: String) -> String { UnifiedDiff.text(of: edits, in: original, path: path) }
}

/// The result of reading a file: Swift source, or a note that explains why it is not.
enum SourceReading {
    case source(SwiftSource)
    case problem(PortNote)

    init(_ bytes: [UInt8]) {
        if let offset = bytes.firstIndex(of: 0) {
            self = .problem(Self.note(bytes, offset, "zero byte: the file is not Swift source and was not changed"))
        } else if String(validating: bytes, as: UTF8.self) == nil {
            self = .problem(Self.unread(1, "the file is not UTF-8 text and was not changed"))
        } else if let offset = Self.loneReturn(in: bytes) {
            self = .problem(
                Self.note(
                    bytes, offset, "carriage return without a line feed: convert the line breaks and port again"))
        } else {
            do {
                self = .source(try SwiftSource(bytes))
            } catch {
                self = .problem(
                    Self.note(
                        bytes, error.offset, "\(error.message). The file was not changed. Correct it and port again"))
            }
        }
    }

    private static func loneReturn(in bytes: [UInt8]) -> Int? {
        bytes.indices.first { index in
            bytes[index] == .carriageReturn && (index + 1 == bytes.count || bytes[index + 1] != .newline)
        }
    }

    private static func note(_ bytes: [UInt8], _ offset: Int, _ message: String) -> PortNote {
        unread(1 + bytes[..<min(offset, bytes.count)].count { $0 == .newline }, message)
    }

    private static func unread(_ line: Int, _ message: String) -> PortNote {
        PortNote(line: line, kind: .unreadFile, subject: "", sentence: message, isLeft: true)
    }
}
