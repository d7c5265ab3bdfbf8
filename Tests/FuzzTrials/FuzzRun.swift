import Foundation

/// Readers of one kind of input, which get damaged copies.
protocol FuzzTarget {
    /// Whole inputs to damage.
    var seeds: [[UInt8]] { get }
    /// Texts to insert into inputs, because random bytes rarely produce them.
    var pieces: [String] { get }
    /// Reads one damaged input and uses the result.
    ///
    /// - Throws: Any error of the readers, which counts as refused; ``WrongAnswer`` if an answer or an error is wrong.
    func read(_ bytes: [UInt8]) throws
}

extension FuzzTarget {
    var pieces: [String] { [] }
}

/// An answer that is wrong for any input.
struct WrongAnswer: Error, CustomStringConvertible {
    let description: String

    /// - Throws: An error with `text` if `condition` is false.
    static func unless(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw WrongAnswer(description: text()) }
    }
}

/// Kinds of input, by their names on the command line.
enum FuzzKind: String, CaseIterable {
    case formats, models, compiled, kept, mappings, archives, caches, records, stores, logs, binaries, documents

    func target(in folder: URL) throws -> any FuzzTarget {
        switch self {
        case .formats: try FormatTarget()
        case .models: try SourceModelTarget()
        case .compiled: try CompiledModelTarget(isKept: false)
        case .kept: try CompiledModelTarget(isKept: true)
        case .mappings: try MappingTarget(folder: folder)
        case .archives: try ArchiveTarget()
        case .caches: try CacheTarget(folder: folder)
        case .records: try RecordTarget(folder: folder)
        case .stores: try StoreTarget(folder: folder, type: .sqlite)
        case .logs: try LogTarget(folder: folder)
        case .binaries: try StoreTarget(folder: folder, type: .binary)
        case .documents: try StoreTarget(folder: folder, type: .xml)
        }
    }
}

/// A run over many damaged inputs.
struct FuzzRun {
    let target: any FuzzTarget
    let seeds: [[UInt8]]
    /// File with the current input.
    let input: URL
    /// Time limit of one input in seconds; ample also under a sanitizer.
    private static let patience: UInt32 = 300

    /// Numbers of inputs that were read and refused.
    struct Outcome: CustomStringConvertible {
        var read = 0
        var refused = 0
        var description: String { "\(read) read, \(refused) refused" }
    }

    /// - Throws: ``WrongAnswer`` with the number of the mutation.
    func attack(_ count: Int, seed: UInt64) throws -> Outcome {
        var outcome = Outcome()
        var damage = Damage(seed: seed, seeds: seeds, pieces: target.pieces.map { Array($0.utf8) })
        for (number, seed) in seeds.enumerated() {
            // A seed that is refused would test nothing.
            do { try target.read(seed) } catch {
                throw WrongAnswer(description: "the whole input \(number) was refused: \(error)")
            }
        }
        for number in 0..<count {
            let bytes = damage.next()
            try write(bytes)
            // Ends the program if reading never ends, as a trap would.
            alarm(Self.patience)
            do {
                try target.read(bytes)
                outcome.read += 1
            } catch let error as WrongAnswer {
                throw WrongAnswer(description: "mutation \(number), seed \(seed), \(input.path): \(error)")
            } catch {
                outcome.refused += 1
                try WrongAnswer.unless(!"\(error)".isEmpty, "mutation \(number): an error without a text")
            }
        }
        alarm(0)
        return outcome
    }

    // SAFETY: `write` reads the bytes of the array, which is alive.
    private func write(_ bytes: [UInt8]) throws {
        let file = open(input.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
        defer { close(file) }
        _ = bytes.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
    }
}
