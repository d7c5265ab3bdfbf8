import Foundation
import ModelFiles

/// Finds the models with which a store was written, among files that are mostly unrelated. Compares the version
/// hashes stored with compiled models, and reads only the files it needs.
struct StoreModelSearch {
    let metadata: [String: Any]

    private struct Candidate {
        let url: URL
        /// The version hashes in the model's hash file; `nil` if there is none.
        let hashes: [String: Data]?
    }

    /// All versions of models in `bundles` that the store may have been written with.
    func models(in bundles: [Bundle]?) -> [NSManagedObjectModel] {
        guard let wanted = ModelMerging.versionHashes(in: metadata) else { return [] }
        let candidates = candidates(in: bundles)
        let told = candidates.filter { $0.hashes != nil }
        let choice = ModelMerging.choose(wanted, from: told.map { $0.hashes ?? [:] })
        if choice.isComplete, !wanted.isEmpty {
            let models = choice.chosen.compactMap { NSManagedObjectModel(contentsOf: told[$0].url) }
            // The stored hashes may be wrong.
            if models.count == choice.chosen.count { return models }
        }
        func all(where hasEntity: ([String: Data]) -> Bool) -> [NSManagedObjectModel] {
            candidates.filter { candidate in
                candidate.hashes.map(hasEntity)
                    ?? CompiledModelBundle.mayHave(entityOf: wanted.keys, at: candidate.url)
            }.compactMap { NSManagedObjectModel(contentsOf: $0.url) }
        }
        let likely = all { hashes in wanted.contains { hashes[$0.key] == $0.value } }
        if !likely.isEmpty { return likely }
        // A store or model written by an earlier framework version has other hashes for composite attributes.
        return all { hashes in wanted.keys.contains { hashes[$0] != nil } }
    }

    /// The files of all model versions in `bundles`, each once.
    func files(in bundles: [Bundle]?) -> [URL] { candidates(in: bundles).map(\.url) }

    private func candidates(in bundles: [Bundle]?) -> [Candidate] {
        ModelMerging.files(in: bundles).flatMap(candidates(at:))
    }

    private func candidates(at url: URL) -> [Candidate] {
        guard url.pathExtension == "momd", let info = try? CompiledModelBundle.versionInfo(of: url) else {
            return ([url] + ModelMerging.otherVersions(of: url)).map { Candidate(url: $0, hashes: nil) }
        }
        return [Candidate(url: url, hashes: info.hashes[info.currentVersion])]
            + ModelMerging.otherVersions(of: url).map {
                Candidate(url: $0, hashes: info.hashes[$0.deletingPathExtension().lastPathComponent])
            }
    }
}
