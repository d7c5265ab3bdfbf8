import Foundation
import FoundationXML

/// An element of an XML file with the line on which it starts.
struct XMLTree {
    let name: String
    let attributes: [String: String]
    let line: Int
    var children: [XMLTree] = []

    /// Parses a whole file.
    ///
    /// - Throws: ``ModelFileError`` with the line on which the file stops being XML.
    static func parse(_ data: Data, file: String) throws -> XMLTree {
        let builder = XMLTreeBuilder()
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        parser.delegate = builder
        let complete = parser.parse()
        if let tooDeep = builder.tooDeepLine {
            throw ModelFileError(.malformed, file: file, line: tooDeep, "elements are nested too deeply for a model")
        }
        guard complete, let root = builder.root else {
            let line = parser.lineNumber > 0 ? parser.lineNumber : 1
            throw ModelFileError(.malformed, file: file, line: line, "this is not well-formed XML")
        }
        return root
    }

    func children(named name: String) -> [XMLTree] { children.filter { $0.name == name } }
}

/// Collects the parser's events into a tree.
private final class XMLTreeBuilder: NSObject, XMLParserDelegate {
    private(set) var root: XMLTree?
    private(set) var tooDeepLine: Int?
    private var open: [XMLTree] = []

    /// No model nests deeper than an entry of a user info; more than this is no model.
    private let greatestDepth = 32

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName qName: String?,
        attributes: [String: String]
    ) {
        if open.count >= greatestDepth {
            tooDeepLine = tooDeepLine ?? parser.lineNumber
            parser.abortParsing()
            return
        }
        open.append(XMLTree(name: elementName, attributes: attributes, line: parser.lineNumber))
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?
    ) {
        guard let finished = open.popLast() else { return }
        if open.isEmpty {
            root = finished
        } else {
            open[open.count - 1].children.append(finished)
        }
    }
}
