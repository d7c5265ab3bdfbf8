import CoreData
import Foundation
import TerminalKit
import Translation

/// One line of a record: a property, a part of its value, or a related record.
struct RecordLine {
    enum Fold {
        case open, closed
    }

    /// Identifies the line independently of its contents: the path from the record to the value shown.
    let path: String
    var depth = 0
    /// The property of the top record to which the line belongs.
    let property: NSPropertyDescription
    let title: String
    let value: String
    let role: Role
    /// The record that Enter opens.
    var target: NSManagedObject?
    /// True for the line that represents the records not listed.
    var isMore = false
    var fold: Fold?
    /// The bytes of a PNG file, on the first of the lines that the picture covers.
    var picture: Data?
    /// True for text that is wrapped. Other values are truncated.
    var wraps = false
}

/// Builds the lines of a record, including the unfolded ones.
struct RecordLines {
    let unfolded: Set<String>
    /// Width of values, in columns.
    let width: Int
    /// Settings of entities from the configuration file, by name.
    var preferences: [String: EntityPreferences] = [:]
    /// True if the terminal can show pictures.
    var showsPictures = false

    /// Number of related records listed before a line that opens all of them.
    private static let listedRecords = 12
    private static let deepest = 6

    func lines(of object: NSManagedObject) -> [RecordLine] { lines(of: object, in: "", depth: 0, root: nil) }

    private func lines(
        of object: NSManagedObject, in path: String, depth: Int, root: NSPropertyDescription?
    ) -> [RecordLine] {
        let properties = object.entity.properties
        let label = EntityDisplay.label(of: object.entity)
        let attributes = properties.compactMap { $0 as? NSAttributeDescription }
        let ordered: [NSPropertyDescription] =
            attributes.filter { $0 === label } + attributes.filter { $0 !== label }
            + properties.compactMap { $0 as? NSRelationshipDescription }
        return ordered.flatMap { property -> [RecordLine] in
            let place = RecordLine(
                path: path + property.name, depth: depth, property: root ?? property,
                title: PropertyTitle.title(property.name), value: "", role: .text)
            let isChanged = object.changedValues()[property.name] != nil
            if let relationship = property as? NSRelationshipDescription {
                return lines(of: relationship, of: object, at: place, isChanged: isChanged)
            }
            let value = object.value(forKey: property.name)
            let format = preferences[object.entity.name ?? ""]?.formats[property.name]
            if let text = format?.text(of: value) { return [line(place, text, isChanged ? .edited : .text, fold: nil)] }
            return lines(ofValue: value, of: property, at: place, isChanged: isChanged)
        }
    }

    // MARK: Attributes

    private func lines(
        ofValue value: Any?, of property: NSPropertyDescription, at place: RecordLine, isChanged: Bool
    ) -> [RecordLine] {
        var text = ValueDisplay.text(value, of: property)
        if let date = value as? Date { text = DateDisplay.exact(date) }
        let role: Role = isChanged ? .edited : (text == ValueDisplay.nothing ? .muted : .text)
        if let tree = ValueTree(value) { return lines(of: tree, at: place, role: role) }
        if let data = value as? Data, !data.isEmpty {
            let kind = PictureHeader(data).map { $0.text + tr(", ") } ?? ""
            let isOpen = unfolded.contains(place.path)
            let head = line(
                place, kind + CountedNoun.text(data.count, "byte"), role, fold: isOpen)
            guard isOpen else { return [head] }
            if showsPictures, let header = PictureHeader(data), header.kind == "PNG" {
                return [head] + self.lines(ofPicture: data, header, at: place)
            }
            return [head]
                + HexDump.lines(of: data, width: width).enumerated().map { index, text in
                    RecordLine(
                        path: "\(place.path)#\(index)", depth: place.depth, property: place.property, title: "",
                        value: text, role: .muted)
                }
        }
        var made = line(place, text, role, fold: nil)
        made.wraps = value is String
        return [made]
    }

    /// Empty lines for the area of a picture. Cells are twice as high as wide.
    private func lines(ofPicture data: Data, _ header: PictureHeader, at place: RecordLine) -> [RecordLine] {
        let height = PictureArea(header, width: width).height
        return (0..<height).map { index in
            RecordLine(
                path: "\(place.path)#\(index)", depth: place.depth, property: place.property, title: "", value: "",
                role: .text, picture: index == 0 ? data : nil)
        }
    }

    private func line(_ place: RecordLine, _ value: String, _ role: Role, fold: Bool?) -> RecordLine {
        RecordLine(
            path: place.path, depth: place.depth, property: place.property, title: place.title, value: value,
            role: role, fold: fold.map { $0 ? .open : .closed })
    }

    private func lines(of tree: ValueTree, at place: RecordLine, role: Role) -> [RecordLine] {
        if case .leaf(let text) = tree {
            var made = line(place, text, role, fold: nil)
            made.wraps = true
            return [made]
        }
        let isOpen = unfolded.contains(place.path)
        let head = line(place, tree.summary, role, fold: isOpen)
        guard isOpen else { return [head] }
        return [head]
            + tree.parts.flatMap { title, value in
                let part = RecordLine(
                    path: "\(place.path)/\(title)", depth: place.depth + 1, property: place.property, title: title,
                    value: "", role: .text)
                return lines(of: value, at: part, role: role)
            }
    }

    // MARK: Relationships

    private func lines(
        of relationship: NSRelationshipDescription, of object: NSManagedObject, at place: RecordLine, isChanged: Bool
    ) -> [RecordLine] {
        guard relationship.isToMany else {
            let other = object.value(forKey: relationship.name) as? NSManagedObject
            let text = other.map { RecordName.text($0) } ?? ValueDisplay.nothing
            let role: Role = other == nil ? .muted : (isChanged ? .edited : .link)
            return lines(of: other, at: place, title: place.title, text: text, role: role)
        }
        let related = RelatedRecords(object: object, relationship: relationship)
        let count = related.count()
        let counted = CountedNoun.text(count, relationship.destinationEntity?.name ?? "record")
        // Relationships of the record itself are unfolded unless the user folded them.
        let isOpen = place.depth == 0 ? !unfolded.contains(place.path) : unfolded.contains(place.path)
        let head = line(place, counted, isChanged ? .edited : .muted, fold: count == 0 ? nil : isOpen)
        guard isOpen, count > 0 else { return [head] }
        var lines = [head]
        for (index, other) in related.first(Self.listedRecords, of: count).enumerated() {
            let part = RecordLine(
                path: "\(place.path)/\(index)", depth: place.depth, property: place.property, title: "", value: "",
                role: .link)
            lines += self.lines(of: other, at: part, title: "", text: RecordName.text(other), role: .link)
        }
        if count > Self.listedRecords {
            lines.append(
                RecordLine(
                    path: place.path + "/more", depth: place.depth, property: place.property, title: "",
                    value: sentence("all \(GroupedNumber.text(count))…"), role: .key, isMore: true))
        }
        return lines
    }

    /// The line of a related record and, if it is unfolded, the lines of that record below it.
    private func lines(
        of other: NSManagedObject?, at place: RecordLine, title: String, text: String, role: Role
    ) -> [RecordLine] {
        guard let other else { return [line(place, text, role, fold: nil)] }
        let isOpen = unfolded.contains(place.path)
        let mayUnfold = place.depth < Self.deepest
        var head = line(place, text, role, fold: nil)
        head.target = other
        head.fold = isOpen && mayUnfold ? .open : nil
        guard isOpen, mayUnfold else { return [head] }
        return [head] + lines(of: other, in: place.path + "/", depth: place.depth + 1, root: place.property)
    }
}

/// The size of a picture in cells, with its aspect ratio kept.
struct PictureArea {
    private static let greatestHeight = 12
    let width: Int
    let height: Int

    init(_ header: PictureHeader, width room: Int) {
        let ratio = Double(max(1, header.height ?? 1)) / Double(max(1, header.width ?? 1)) / 2
        let width = max(1, min(room, Int((Double(Self.greatestHeight) / ratio).rounded(.down))))
        self.width = width
        height = max(1, min(Self.greatestHeight, Int((Double(width) * ratio).rounded(.up))))
    }
}
