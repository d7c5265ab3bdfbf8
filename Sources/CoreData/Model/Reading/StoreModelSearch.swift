import Foundation
import ModelFiles

/// Finds the models that a store was written with, among files of which most are others: it goes by the version hashes that
/// stand beside compiled models, and reads only what it needs.
struct StoreModelSearch {
    let metadata: [String: Any]

    private struct Candidate {
        let url: URL
        /// The version hashes in the file beside the model; `nil` where there is none.
        let hashes: [String: Data]?
    }

    /// The models among the resources of `bundles`, in all their versions, that the store may have been written with.
    func models(in bundles: [Bundle]?) -> [NSManagedObjectModel] {
        guard let wanted = ModelMerging.versionHashes(in: metadata) else { return [] }
        let candidates = candidates(in: bundles)
        let told = candidates.filter { $0.hashes != nil }
        let choice = ModelMerging.choose(wanted, from: told.map { $0.hashes ?? [:] })
        if choice.isComplete, !wanted.isEmpty {
            let models = choice.chosen.compactMap { NSManagedObjectModel(contentsOf: told[$0].url) }
            // The hashes beside a file may be wrong.
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
        // A store or a model of an earlier version has other hashes of composite attributes.
        return all { hashes in wanted.keys.contains { hashes[$0] != nil } }
    }

    /// The files of the models among the resources of `bundles`, each version once.
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
