import Foundation
import RosterCommands

/// Completes a command line for a shell, using the table of verbs and the store that the line names.
struct WordCompleter {
    /// Candidates for the last word.
    enum Answer: Equatable {
        case words([String])
        /// Any file. The shell completes the path.
        case files
    }

    private let before: [String]
    private let word: String
    private let verb: any CommandVerb.Type
    private let rest: [String]

    /// - Parameter words: the words typed after the program's name. The last one, which may be empty, is completed.
    init(_ words: [String]) {
        before = Array(words.dropLast())
        word = words.last ?? ""
        if let found = VerbTable.verb(of: before) {
            (verb, rest) = found
        } else {
            (verb, rest) = (BrowseVerb.self, before)
        }
    }

    var answer: Answer {
        if let flag = flagBeforeWord { return candidates(for: flag.completion) }
        if let equals = word.firstIndex(of: "="), let flag = flag(String(word[..<equals])), flag.placeholder != nil {
            let answer = WordCompleter(before + [String(word[word.index(after: equals)...])])
                .candidates(for: flag.completion)
            guard case .words(let words) = answer else { return answer }
            return .words(words.map { "\(word[...equals])\($0)" })
        }
        if word.hasPrefix("-") { return .words(flags.filter { $0.hasPrefix(word) }) }
        let names = verbNames
        if before.isEmpty || before == ["model"] {
            return names.isEmpty ? .files : .words(names)
        }
        let place = operandsBefore.count
        guard let operand = place < verb.operands.count ? verb.operands[place] : verb.operands.last,
            place < verb.operands.count || operand.repeats
        else { return .words([]) }
        return candidates(for: operand.completion)
    }

    // MARK: Verbs and flags

    /// The next words of the verbs that begin with the typed words.
    private var verbNames: [String] {
        let names = VerbTable.verbs.map { $0.name.split(separator: " ").map(String.init) }
        let next = names.filter { $0.count > before.count && Array($0.prefix(before.count)) == before }
            .map { $0[before.count] }
        var seen: Set<String> = []
        return next.filter { $0.hasPrefix(word) && seen.insert($0).inserted }
    }

    private var flags: [String] { verb.allFlags.map { "--\($0.name)" } }

    private var flagBeforeWord: (any CommandFlag)? {
        guard let last = rest.last, let flag = flag(last), flag.takesNextWord else { return nil }
        return flag
    }

    private func flag(_ word: String) -> (any CommandFlag)? {
        verb.allFlags.first { word == "--\($0.name)" || $0.letter.map { word == "-\($0)" } ?? false }
    }

    /// The operands before the completed word: words that are neither a flag nor a flag's value.
    private var operandsBefore: [String] {
        var result: [String] = []
        var isValue = false
        for word in rest {
            if isValue {
                isValue = false
            } else if word.hasPrefix("-"), word != "-" {
                isValue = flag(word)?.takesNextWord ?? false
            } else {
                result.append(word)
            }
        }
        return result
    }

    private func value(of flag: any CommandFlag) -> String? {
        rest.indices.dropLast().last { self.flag(rest[$0])?.name == flag.name }.map { rest[$0 + 1] }
    }

    // MARK: From the store

    private func candidates(for completion: WordCompletion) -> Answer {
        switch completion {
        case .none: return .words([])
        case .files: return .files
        case .stores: return stores
        case .object: return objects
        case .words(let words): return matching(words)
        case .entities: return matching(store?.entities ?? [])
        case .keyPath: return matching(keyPaths)
        case .keyPaths:
            let typed = word.lastIndex(of: ",").map { String(word[...$0]) } ?? ""
            return matching(keyPaths.map { typed + $0 })
        case .sortKeys: return sortKeys
        case .sections: return sections
        case .predicate: return predicateWords
        case .assignment: return assignments
        }
    }

    private var sortKeys: Answer {
        guard let colon = word.lastIndex(of: ":"), !word[colon...].contains(",") else {
            return candidates(for: .keyPaths)
        }
        return matching(["asc", "desc"].map { "\(word[...colon])\($0)" })
    }

    private var sections: Answer {
        // A slash begins a nested section level.
        let level = word.lastIndex(of: "/").map { word[word.index(after: $0)...] } ?? word[...]
        let outer = word[..<level.startIndex]
        guard let colon = level.lastIndex(of: ":") else { return matching(keyPaths.map { outer + $0 }) }
        guard let entity, let store else { return .words([]) }
        let keyPath = level.prefix { $0 != ":" }
        return matching(
            store.sectionWords(ofKey: String(keyPath), entity: entity).map { "\(word[...colon])\($0)" })
    }

    // MARK: Values and stores

    /// Folders, and files with an SQLite header; any file if there are none.
    private var stores: Answer {
        let typed = word.lastIndex(of: "/").map { String(word[...$0]) } ?? ""
        let folder = typed.isEmpty ? "." : (typed as NSString).expandingTildeInPath
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let found = names.sorted().filter { !$0.hasPrefix(".") }.compactMap { name -> String? in
            guard (typed + name).hasPrefix(word) else { return nil }
            var isFolder: ObjCBool = false
            let path = folder + "/" + name
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return nil }
            if isFolder.boolValue { return typed + name + "/" }
            return StoreWords.looksLikeStore(path) ? typed + name : nil
        }
        return found.isEmpty ? .files : .words(found)
    }

    private var assignments: Answer {
        guard let entity, let store else { return .words([]) }
        guard let equals = word.firstIndex(of: "=") else {
            return matching(store.keys(ofEntity: entity).map { $0 + "=" })
        }
        let key = String(word[..<equals])
        let typed = String(word[word.index(after: equals)...])
        return .words(store.assignableValues(ofKey: key, entity: entity, beginningWith: typed).map { "\(key)=\($0)" })
    }

    /// Key paths; after `key == "`, the values of that key.
    private var predicateWords: Answer {
        guard let entity, let store, let match = word.firstMatch(of: /(?:^|\s)([\w.]+)\s*==\s*"([^"]*)$/) else {
            let start = word.lastIndex { $0 == " " || $0 == "(" }.map { String(word[...$0]) } ?? ""
            let typed = word.dropFirst(start.count)
            return .words(keyPaths.filter { $0.hasPrefix(typed) }.map { start + $0 })
        }
        let before = word.dropLast(match.2.count)
        let values = store.values(ofKey: String(match.1), entity: entity, beginningWith: String(match.2))
        return .words(values.filter { !$0.contains("\"") }.map { "\(before)\($0)\"" })
    }

    /// `Entity:`, followed by the values of the entity's unique key.
    private var objects: Answer {
        guard let store else { return .words([]) }
        guard let colon = word.firstIndex(of: ":") else { return matching(store.entities.map { $0 + ":" }) }
        let entity = String(word[..<colon])
        guard let key = store.uniqueKey(ofEntity: entity) else { return .words([]) }
        let typed = String(word[word.index(after: colon)...])
        return .words(store.values(ofKey: key, entity: entity, beginningWith: typed).map { "\(entity):\($0)" })
    }

    private func matching(_ words: [String]) -> Answer { .words(words.filter { $0.hasPrefix(word) }) }

    private var store: StoreWords? {
        guard let path = operandsBefore.first else { return nil }
        let expanded = (path as NSString).expandingTildeInPath
        return StoreWords(StoreLocation(store: expanded, model: value(of: Flags.model)))
    }

    private var entity: String? {
        value(of: Flags.entity) ?? operandsBefore.dropFirst().first
    }

    private var keyPaths: [String] { entity.flatMap { store?.keyPaths(ofEntity: $0) } ?? [] }
}
