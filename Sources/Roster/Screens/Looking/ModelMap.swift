import CoreData

/// A drawing of a model: a box for each entity with its relationships, and a line next to the boxes from each
/// relationship to its inverse. Lines that overlap are in different lanes.
struct ModelMap {
    /// A line of a box on which the cursor can be.
    struct Stop {
        let y: Int
        let entity: NSEntityDescription
        /// The relationship; `nil` on the line with the entity's name.
        let relationship: NSRelationshipDescription?
        /// The index of the stop at the other end.
        var other: Int?
    }

    /// A line between two stops.
    struct Line {
        let from: Int
        let to: Int
        /// The lane, counted from the left; `nil` if there was no room.
        var lane: Int?
    }

    private(set) var stops: [Stop] = []
    private(set) var lines: [Line] = []
    /// The first and last line of each entity's box.
    private(set) var boxes: [(entity: NSEntityDescription, lines: ClosedRange<Int>)] = []

    /// Number of lines of the drawing.
    var height: Int { (boxes.last?.lines.upperBound ?? -1) + 1 }
    var laneCount: Int { (lines.compactMap(\.lane).max() ?? -1) + 1 }

    /// - Parameter greatestLane: the number of lanes that fit.
    init(_ entities: [NSEntityDescription], greatestLane: Int) {
        var y = 0
        for entity in Self.neighbourly(entities) {
            let relationships = entity.properties.compactMap { $0 as? NSRelationshipDescription }
            stops.append(Stop(y: y, entity: entity, relationship: nil))
            for (index, relationship) in relationships.enumerated() {
                stops.append(Stop(y: y + 2 + index, entity: entity, relationship: relationship))
            }
            boxes.append((entity, y...(y + 2 + relationships.count)))
            y += relationships.count + 3
        }
        connect()
        assignLanes(greatest: greatestLane)
    }

    /// Orders entities such that related ones are close: the next one is the entity with the most relationships to the
    /// three before it.
    private static func neighbourly(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
        func degree(_ entity: NSEntityDescription, _ others: [NSEntityDescription]) -> Int {
            entity.relationshipsByName.values.count { relation in others.contains { $0 === relation.destinationEntity }
            }
        }
        var rest = entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        var result: [NSEntityDescription] = []
        while !rest.isEmpty {
            let near = result.suffix(3)
            let best = rest.indices.max { left, right in
                let (a, b) = (degree(rest[left], Array(near)), degree(rest[right], Array(near)))
                if a != b { return a < b }
                let (c, d) = (degree(rest[left], entities), degree(rest[right], entities))
                return c != d ? c < d : left > right
            }
            guard let best else { break }
            result.append(rest.remove(at: best))
        }
        return result
    }

    private mutating func connect() {
        for (index, stop) in stops.enumerated() {
            guard let relationship = stop.relationship, stops[index].other == nil else { continue }
            let inverse = relationship.inverseRelationship
            let other = stops.firstIndex { candidate in
                if let inverse {
                    return candidate.relationship?.name == inverse.name && candidate.entity === inverse.entity
                }
                return candidate.relationship == nil && candidate.entity === relationship.destinationEntity
            }
            guard let other, other != index else { continue }
            stops[index].other = other
            if inverse != nil { stops[other].other = index }
            lines.append(Line(from: min(index, other), to: max(index, other)))
        }
    }

    /// Assigns lanes. Short lines are closest to the boxes.
    private mutating func assignLanes(greatest: Int) {
        var taken: [[ClosedRange<Int>]] = []
        for index in lines.indices.sorted(by: { length(lines[$0]) < length(lines[$1]) }) {
            let span = stops[lines[index].from].y...stops[lines[index].to].y
            let lane = taken.firstIndex { !$0.contains { $0.overlaps(span) } } ?? taken.count
            guard lane < greatest else { continue }
            if lane == taken.count { taken.append([]) }
            taken[lane].append(span)
            lines[index].lane = lane
        }
    }

    private func length(_ line: Line) -> Int { stops[line.to].y - stops[line.from].y }
}
