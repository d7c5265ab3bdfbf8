import Foundation
import TestSupport
import Testing

@testable import ModelFiles

/// A damaged file causes an error with a place, never a crash or a long wait.
@Suite(.needs(.campaign)) struct MutationTests {
    private static let seed: UInt64 = 20_261_120

    /// `ROSTER_LONG_TESTS=n` multiplies the mutations by n: 10 makes 10,000 of each kind. The default is 1/3.
    private static let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }

    private static func number(_ count: Int) -> Int { factor.map { count * $0 } ?? count / 3 }

    private func mutated(_ data: Data, _ generator: inout SeededGenerator) -> Data {
        var bytes = [UInt8](data)
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes[place] ^= UInt8(1) << UInt8.random(in: 0...7, using: &generator)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...8, using: &generator)))
            case 3: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            case 4: bytes.removeSubrange(place...)
            default:
                let other = Int.random(in: 0..<bytes.count, using: &generator)
                bytes.swapAt(place, other)
            }
        }
        return Data(bytes)
    }

    /// Reads many mutations of `data`. Each error has to be clear.
    private func attack(_ data: Data, count: Int, read: (Data) throws -> Void) {
        var generator = SeededGenerator(seed: Self.seed)
        var failures = 0
        let count = Self.number(count)
        for number in 0..<count {
            do {
                try read(mutated(data, &generator))
            } catch let error as ModelFileError {
                failures += 1
                #expect(
                    !error.reason.isEmpty && !error.description.contains("\n"), "seed \(Self.seed), mutation \(number)")
            } catch {
                Issue.record("seed \(Self.seed), mutation \(number): \(error)")
            }
        }
        print("damaged models: \(count), refused \(failures), read \(count - failures)")
        #expect(failures > count / 4, "hardly any mutation was noticed: the test attacks nothing")
    }

    @Test func sourceModels() throws {
        let contents = try SourceModelBundle.contents(of: SourceModelWriterTests.sample)
        attack(try Data(contentsOf: contents), count: 1000) { _ = try SourceModelReader.read($0, file: "contents") }
    }

    @Test func compiledModels() throws {
        let data = try CompiledModelWriter.write(CompiledModelTests.everything(), form: .file)
        attack(data, count: 1500) { _ = try CompiledModelReader.read($0, file: "x.mom") }
    }

    @Test func modelsKeptInStores() throws {
        let data = try ModelFile.writeCached(CompiledModelTests.everything())
        attack(data, count: 1000) { _ = try ModelFile.readCached($0, store: "x.sqlite") }
    }

    // MARK: Unknown parts

    /// Everything that can be read of a damaged file is written and reads back the same, with its unknown parts.
    @Test func sourceModelsWithUnknownParts() throws {
        attack(Data(UnknownSourcePartsTests.contents.utf8), count: 1000) { data in
            let model = try SourceModelReader.read(data, file: "contents").model
            let written = SourceModelWriter.write(model)
            let again = try SourceModelReader.read(written, file: "written").model
            #expect(SourceModelWriter.write(again) == written)
            #expect(again.entities.map(\.unknown) == model.entities.map(\.unknown) && again.unknown == model.unknown)
        }
    }

    @Test func compiledModelsWithUnknownParts() throws {
        let data = try AlteredArchive.addingKeys(
            to: CompiledModelWriter.write(CompiledModelTests.everything(), form: .file))
        attack(data, count: 700) { data in
            let model = try CompiledModelReader.read(data, file: "x.mom").model
            let written = try CompiledModelWriter.write(model, form: .file)
            #expect(try KeyedArchive(written).isWhole)
            _ = try CompiledModelReader.read(written, file: "written.mom")
        }
    }

    /// Archives with exchanged objects: the structure is valid, the meaning is not.
    @Test func shuffledArchives() throws {
        let data = try AlteredArchive.addingKeys(
            to: CompiledModelWriter.write(CompiledModelTests.everything(), form: .store))
        guard case .dictionary(var archive) = try BinaryPropertyListReader.read(data),
            case .array(let objects) = archive["$objects"]
        else {
            Issue.record("the archive has no objects")
            return
        }
        var generator = SeededGenerator(seed: Self.seed)
        for number in 0..<Self.number(500) {
            var changed = objects
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let pair = (0..<2).map { _ in Int.random(in: 0..<changed.count, using: &generator) }
                if Bool.random(using: &generator) {
                    changed.swapAt(pair[0], pair[1])
                } else {
                    changed[pair[0]] = changed[pair[1]]
                }
            }
            archive["$objects"] = .array(changed)
            do {
                let damaged = BinaryPropertyListWriter.write(.dictionary(archive))
                let model = try CompiledModelReader.read(damaged, file: "x.mom").model
                let written = try CompiledModelWriter.write(model, form: .store)
                #expect(try KeyedArchive(written).isWhole, "seed \(Self.seed), mutation \(number)")
            } catch let error {
                #expect(error is ModelFileError, "seed \(Self.seed), mutation \(number): \(error)")
            }
        }
    }
}
