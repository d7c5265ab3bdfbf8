import SourcePort
import Testing

/// `Bundle(for:)` with a class of another file, which may belong to another target.
@Suite struct BundleExportTests {
    private func port(_ files: [String]) -> [PortedFile] {
        let facts = PortFacts(of: files.map { Array($0.utf8) })
        return files.map { SourcePort.port(Array($0.utf8), knowing: facts) }
    }

    private static let test = """
        import XCTest
        import CoreData
        @testable import Notes

        final class StackTests: XCTestCase {
            let model = Bundle(for: Stack.self).url(forResource: "Notes", withExtension: "momd")
            let title = NSLocalizedString("title", bundle: .init(for: Stack.self), comment: "")
        }

        """

    @Test func aClassExportsTheBundleOfItsTarget() {
        let files = port(["import CoreData\n\npublic final class Stack {\n    public init() {}\n}\n", Self.test])
        #expect(
            files[0].string == """
                import CoreData

                public final class Stack {
                    public init() {}
                }

                extension Stack {
                    /// The bundle of this target's resources, for other targets.
                    public static var resourceBundle: Bundle { .module }
                }

                """)
        #expect(files[1].string.contains("let model = Stack.resourceBundle.url(forResource: \"Notes\""))
        #expect(files[1].string.contains("bundle: Stack.resourceBundle, comment"))
        #expect(files[1].notes.isEmpty && files[0].notes.map(\.isLeft) == [false])
        let again = port(files.map(\.string))
        #expect(again.allSatisfy { $0.edits.isEmpty })
    }

    @Test func itIsAsVisibleAsTheClass() {
        #expect(
            port(["class Stack {}", Self.test])[0].string.contains(
                "\n    static var resourceBundle: Bundle { .module }\n"))
        #expect(port(["class Stack {}", Self.test])[0].string.hasPrefix("import CoreData\n"))
    }

    @Test func lineBreaksAreThoseOfTheFile() {
        let text = port(["import CoreData\r\nclass Stack {}\r\n", Self.test])[0].string
        #expect(text.contains("class Stack {}\r\n\r\nextension Stack {\r\n") && !text.contains("}\n"))
    }

    /// Classes that other files cannot name or that are ambiguous, existing members of that name, and missing classes.
    @Test(arguments: [
        ["private class Stack {}"], ["struct Stack {}"], ["enum A { class Stack {} }"],
        ["class Stack {}", "class Stack {}"],
        ["#if os(iOS)\nclass Stack {}\n#endif"], ["class Stack { let resourceBundle = 1 }"], [],
    ])
    func unclearCodeIsNotChanged(_ others: [String]) {
        let files = port(others + [Self.test])
        #expect(!files.contains { $0.string.contains(": Bundle {") })
        #expect(files.last?.string == Self.test && files.last?.notes.count == 2)
    }

    @Test func aClassOfAppleSystemsExportsNothing() {
        let files = port(["import UIKit\nclass Stack: UIView {}", Self.test])
        #expect(!files.contains { $0.string.contains("resourceBundle") })
    }

    @Test func anInfoDictionaryNeedsNoExport() {
        let use = "import CoreData\nlet version = Bundle(for: Stack.self).infoDictionary\n"
        let files = port(["class Stack {}\n", use])
        #expect(files.allSatisfy { $0.edits.isEmpty } && files[1].notes.count == 1)
    }
}
