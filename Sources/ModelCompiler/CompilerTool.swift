import Foundation
import ModelFiles

/// `momc`: the model compiler as a command.
package struct CompilerTool {
    /// The job that the command line requests.
    enum Job: Equatable {
        case help
        /// Compile into a `.momd` or `.mom`, or a mapping model into a `.cdm`; class names that begin with a dot get
        /// the module's name.
        case compile(model: String, output: String, module: String?)
        /// Generate classes, in one file if the output's name ends in `.swift`.
        case generate(model: String, output: String, everything: Bool)
    }

    private static let usage = """
        Usage: momc [--module NAME] MODEL OUT.momd
               momc [--module NAME] MAPPING.xcmappingmodel OUT.cdm
               momc --generate [--all] MODEL OUT

        Compiles a Core Data model, or generates Swift classes for its entities.
        MODEL is a .xcdatamodeld folder or an .xcdatamodel in it.

          --module NAME  the module of classes whose names in MODEL begin with a dot
          --generate     write Swift classes into the folder OUT, or all into one file
                         if OUT ends in .swift; only for entities whose
                         codeGenerationType generates classes
          --all          with --generate: for every entity that has a class name
          --help         print this

        OUT.momd contains all versions of MODEL, OUT.mom only the current one.
        Errors and warnings have the form file:line: error: text.
        Exit status: 0 done, 1 failed, 2 misuse.

        """

    private let output: (String) -> Void
    private let errors: (String) -> Void

    /// - Parameters:
    ///   - output: receives standard output.
    ///   - errors: receives standard error.
    package init(output: @escaping (String) -> Void, errors: @escaping (String) -> Void) {
        self.output = output
        self.errors = errors
    }

    /// Runs the job that the command line requests.
    ///
    /// - Parameter words: the command line without the program's name.
    /// - Returns: the exit status.
    package func run(_ words: [String]) -> Int32 {
        do {
            switch try Self.job(words) {
            case .help: output(Self.usage)
            case .compile(let model, let output, let module): try compile(model, to: output, module: module)
            case .generate(let model, let output, let everything):
                try generate(model, into: output, everything: everything)
            }
            return 0
        } catch let misuse as Misuse {
            errors("momc: \(misuse.text) (see momc --help)\n")
            return 2
        } catch {
            for diagnostic in Self.diagnostics(for: error) { errors("\(diagnostic)\n") }
            return 1
        }
    }

    // MARK: Arguments

    private struct Misuse: Error { let text: String }

    static func job(_ words: [String]) throws -> Job {
        var operands: [String] = []
        var module: String?
        var generates = false
        var everything = false
        var flagsEnded = false
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case _ where flagsEnded || !word.hasPrefix("-") || word == "-": operands.append(word)
            case "--": flagsEnded = true
            case "--help", "-h": return .help
            case "--generate": generates = true
            case "--all": everything = true
            case "--module":
                guard let value = rest.popFirst() else { throw Misuse(text: "--module needs a value") }
                module = value
            case _ where word.hasPrefix("--module="): module = String(word.dropFirst("--module=".count))
            default: throw Misuse(text: "unknown flag \(word)")
            }
        }
        guard operands.count == 2 else {
            throw Misuse(
                text: operands.count < 2
                    ? "\(operands.isEmpty ? "MODEL" : "OUT") is missing" : "unexpected argument “\(operands[2])”")
        }
        if generates {
            guard module == nil else { throw Misuse(text: "--module is not valid with --generate") }
            return .generate(model: operands[0], output: operands[1], everything: everything)
        }
        guard !everything else { throw Misuse(text: "--all is only valid with --generate") }
        let isMapping = operands[0].hasSuffix(".xcmappingmodel")
        guard (isMapping ? [".cdm"] : [".momd", ".mom"]).contains(where: operands[1].hasSuffix) else {
            throw Misuse(
                text: isMapping
                    ? "“\(operands[1])” must end in .cdm"
                    : "“\(operands[1])” must end in .momd or .mom")
        }
        return .compile(model: operands[0], output: operands[1], module: module)
    }

    // MARK: Work

    private func generate(_ model: String, into path: String, everything: Bool) throws {
        let generator = try ClassGenerator(
            ModelSource.read(URL(fileURLWithPath: model)), everything: everything)
        for warning in generator.warnings { errors("\(warning)\n") }
        let url = URL(fileURLWithPath: path)
        if url.pathExtension == "swift" {
            try generator.writeSingleFile(to: url)
        } else {
            _ = try generator.write(into: url)
        }
    }

    private func compile(_ model: String, to path: String, module: String?) throws {
        let warnings = try ModelCompilation.compile(
            URL(fileURLWithPath: model), to: URL(fileURLWithPath: path), module: module)
        for warning in warnings { errors("\(warning)\n") }
    }

    /// The messages of an error of reading, generating or writing, with file and line.
    package static func diagnostics(for error: any Error) -> [Diagnostic] {
        switch error {
        case let failure as GenerationFailure: failure.diagnostics
        case let error as ModelFileError: [Diagnostic(.error, file: error.file, line: error.line, error.reason)]
        default:
            [
                Diagnostic(
                    .error, file: (error as NSError).userInfo[NSFilePathErrorKey] as? String ?? "momc",
                    (error as NSError).localizedDescription)
            ]
        }
    }
}
