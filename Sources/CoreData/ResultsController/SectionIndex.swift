/// The index of a sectioned list: the titles of its sections, each once, and the first section of each.
struct SectionIndex {
    private(set) var titles: [String] = []
    private var firstSections: [Int] = []

    /// - Parameter sectionTitles: one for each section, `nil` for a section without a title.
    init(_ sectionTitles: [String?]) {
        var seen: Set<String> = []
        for (section, title) in sectionTitles.enumerated() {
            guard let title, seen.insert(title).inserted else { continue }
            titles.append(title)
            firstSections.append(section)
        }
    }

    func section(forTitle title: String, at place: Int) -> Int {
        if titles.indices.contains(place), titles[place] == title { return firstSections[place] }
        if let known = titles.firstIndex(of: title) { return firstSections[known] }
        precondition(
            titles.indices.contains(place), "The section index does not have the title \"\(title)\" at \(place).")
        return firstSections[place]
    }
}
