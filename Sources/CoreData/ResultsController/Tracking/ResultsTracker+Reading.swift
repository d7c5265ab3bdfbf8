import Foundation

/// The controller's cached section information. Infos read the displayed contents, so they change only if sections are
/// inserted or deleted.
struct ShownSections {
    var infos: [any NSFetchedResultsSectionInfo]?
    var index: SectionIndex?
}

/// Access to the displayed contents.
extension ResultsTracker {
    var fetchedObjects: [AnyObject]? {
        observation.access(self, keyPath: \.state)
        return state?.allResults()
    }

    func object(at indexPath: IndexPath) -> AnyObject {
        observation.access(self, keyPath: \.state)
        guard let state else {
            preconditionFailure("No object at index path \(indexPath): performFetch() was not called.")
        }
        guard let path = indexPath.listPath, let result = state.result(at: path) else {
            let (row, section) = (indexPath.last ?? 0, indexPath.first ?? 0)
            preconditionFailure("No object at index \(row) in section at index \(section).")
        }
        return result
    }

    func objectIDs(at positions: Range<Int>) -> [NSManagedObjectID] {
        guard let state, positions.lowerBound >= 0, positions.upperBound <= state.published.rowCount else {
            preconditionFailure("The list has no positions \(positions).")
        }
        return state.objectIDs(at: positions)
    }

    func indexPath(of result: AnyObject) -> IndexPath? {
        guard let state, let token = state.token(of: result) else { return nil }
        return state.published.path(of: token).map { IndexPath($0) }
    }

    var sections: [any NSFetchedResultsSectionInfo]? {
        observation.access(self, keyPath: \.state)
        guard let state else { return nil }
        if let infos = shownSections.infos { return infos }
        // Declared with the type of the result, because converting the array would iterate over all sections again.
        var made: [any NSFetchedResultsSectionInfo] = []
        made.reserveCapacity(state.published.sectionCount)
        for (index, section) in state.published.allSections.enumerated() {
            made.append(ResultsSection(state: state, number: section.number, index: index))
        }
        shownSections.infos = made
        return made
    }

    /// The default title of a section: the delegate's, otherwise the first letter as a capital.
    func indexTitle(ofSectionNamed name: String) -> String? {
        if caller.mayHave(.indexTitle) {
            var title: String?
            let isTold = caller.call(.indexTitle) {
                title = $0.controller($1, sectionIndexTitleForSectionName: name)
            }
            if isTold { return title }
        }
        return name.first.map { $0.uppercased() } ?? ""
    }

    var index: SectionIndex {
        if let index = shownSections.index { return index }
        let made = SectionIndex((sections ?? []).map(\.indexTitle))
        shownSections.index = made
        return made
    }
}
