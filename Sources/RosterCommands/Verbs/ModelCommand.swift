import CoreData
import Foundation

/// `model`: prints the model of a store or a model's file as text, data, source or diagram.
public struct ModelCommand {
    /// Path of a store or a model.
    public var path: String
    /// Format of the output.
    public var format: ModelFormat
    /// Path of the output; `nil` means standard output.
    public var output: String?

    /// - Parameter format: `nil` to detect it by the name of the output, or else text.
    public init(path: String, format: ModelFormat? = nil, output: String? = nil) {
        self.path = path
        self.output = output
        self.format = format ?? output.flatMap(Self.format(ofFile:)) ?? .text
    }

    private static func format(ofFile path: String) -> ModelFormat? {
        switch URL(fileURLWithPath: path).pathExtension.lowercased() {
        case "xcdatamodel", "xcdatamodeld": .xcdatamodel
        case "json", "jsonl": .json
        case "dot", "gv": .dot
        case "mmd", "mermaid": .mermaid
        default: nil
        }
    }

    /// - Throws: ``CommandError``, or an error of the framework.
    public func run(in surroundings: CommandSurroundings) throws {
        let model = try StoreModel.any(at: path, in: surroundings)
        for note in model.readingNotes { surroundings.note(VisibleText.shown(note)) }
        if format == .xcdatamodel {
            for omission in try model.sourceContents().omissions {
                surroundings.note("omitted, because source models have no form for it: \(VisibleText.shown(omission))")
            }
        }
        guard let output, output != "-" else {
            try surroundings.output.write(ModelPrinter(model: model, style: surroundings.textStyle).text(format))
            return try surroundings.output.flush()
        }
        let place = try OutputPlace(output, readingFrom: path)
        let url = place.url
        if format == .xcdatamodel, url.pathExtension.hasPrefix("xcdatamodel") {
            try model.write(to: url)
        } else {
            let style = TextStyle(columns: nil, isEmphasized: false, width: surroundings.textStyle.width)
            let file = try FileOutput(place)
            try file.write(ModelPrinter(model: model, style: style).text(format))
            try file.finish()
        }
    }
}
