import CoreData
import TerminalKit
import Translation

/// The map of the model: all entities with their relationships. Enter opens an entity's list or follows a relationship.
final class ModelMapScreen: LookingScreen, KeyHelping {
    unowned let list: ListScreen
    private(set) var isFinished = false
    private let counts: [String: Int]
    private let entities: [NSEntityDescription]
    private var map: ModelMap
    private var cursor: Int
    private var top = 0
    private var height = 1
    var keys = KeySequenceReader()
    private static let boxWidth = 44
    private static let origin = 1

    init(list: ListScreen) {
        self.list = list
        entities = list.session.model.entities.filter { $0.name != nil }
        counts = Dictionary(
            uniqueKeysWithValues: list.entities.map { entity in
                let request = NSFetchRequest<NSManagedObject>()
                request.entity = entity
                return (entity.name ?? "", (try? list.session.context.count(for: request)) ?? 0)
            })
        map = ModelMap(entities, greatestLane: 12)
        cursor = map.stops.firstIndex { $0.entity === list.entity && $0.relationship == nil } ?? 0
    }

    // MARK: Keys

    func handle(_ event: Event) -> Bool {
        switch event {
        case .key(let key): return run(key)
        case .mouse(let mouse):
            handle(mouse)
            return true
        default: return false
        }
    }

    var keyHelp: (title: String, keys: [(keys: String, help: String)]) { keyHelp("Keys of the map") }

    static let keysName = "map"
    static let keysRemark = "The keys of the map of the model (gm)."
    static let table = CommandTable<ModelMapScreen>(
        Command.looking([
            Command(
                "follow", keys: "<Enter>", category: "Look", help: "open the entity's list, or follow the relationship"
            ) { $0.follow() },
            Command("open list", keys: "o", category: "Look", help: "open the entity's list") { $0.open() },
            Command("next entity", keys: "<Tab> ]", category: "Look", help: "next entity") { $0.goToEntity(1) },
            Command("previous entity", keys: "<S-Tab> [", category: "Look", help: "previous entity") {
                $0.goToEntity(-1)
            },
        ]))
    func close() { isFinished = true }
    var commands: CommandTable<ModelMapScreen> { list.browser.tables[ModelMapScreen.self] }

    func move(by lines: Int) { cursor = max(0, min(cursor + lines, map.stops.count - 1)) }
    func move(byPages pages: Double) { scroll(by: Int(pages) * height) }
    func moveToStart() { cursor = 0 }
    func moveToEnd() { cursor = max(0, map.stops.count - 1) }

    private func handle(_ mouse: MouseEvent) {
        switch mouse.action {
        case .wheelUp: scroll(by: -3)
        case .wheelDown: scroll(by: 3)
        case .press, .doubleClick:
            let y = mouse.position.y - Self.origin + top
            guard let stop = map.stops.firstIndex(where: { $0.y == y }) else { return }
            if stop == cursor || mouse.action == .doubleClick { follow() }
            cursor = stop
        }
    }

    /// Moves the cursor by lines of the drawing.
    private func scroll(by lines: Int) {
        guard map.stops.indices.contains(cursor) else { return }
        let wanted = map.stops[cursor].y + lines
        cursor =
            lines > 0
            ? map.stops.firstIndex { $0.y >= wanted } ?? map.stops.count - 1
            : map.stops.lastIndex { $0.y <= wanted } ?? 0
    }

    private func goToEntity(_ step: Int) {
        let heads = map.stops.indices.filter { map.stops[$0].relationship == nil }
        cursor = (step > 0 ? heads.first { $0 > cursor } : heads.last { $0 < cursor }) ?? cursor
    }

    private func follow() {
        guard map.stops.indices.contains(cursor) else { return }
        let stop = map.stops[cursor]
        guard let relationship = stop.relationship else { return open() }
        let target =
            stop.other
            ?? map.stops.firstIndex {
                $0.relationship == nil && $0.entity === relationship.destinationEntity
            }
        if let target { cursor = target }
    }

    /// Shows the list of the entity under the cursor.
    private func open() {
        guard map.stops.indices.contains(cursor) else { return }
        let entity = map.stops[cursor].entity
        guard let shown = list.entities.first(where: { $0.name == entity.name }) else {
            return list.browser.say(sentence("\(entity.name ?? "") is abstract, so it has no records"))
        }
        isFinished = true
        list.show(shown)
    }

    // MARK: Painting

    func draw(in canvas: Canvas) {
        canvas.clear()
        let boxWidth = min(Self.boxWidth, max(20, canvas.width - 8))
        let room = max(0, (canvas.width - boxWidth - 2) / 2)
        if map.laneCount > room || map.lines.contains(where: { $0.lane == nil }) {
            map = ModelMap(entities, greatestLane: room)
        }
        // Abstract entities are drawn too, but have no list. The count states them separately.
        let abstract = entities.count(where: \.isAbstract)
        let counted = CountedNoun.text(entities.count, "entity")
        let left = abstract > 0 ? sentence("\(counted) (\(abstract) abstract)") : counted
        let missing = map.lines.count { $0.lane == nil }
        let note =
            missing == 0
            ? "" : missing == 1 ? tr("1 relationship not drawn ") : sentence("\(missing) relationships not drawn ")
        StatusLine(
            left: [(sentence(" Model of \(list.session.url.lastPathComponent): \(left)"), .status)],
            right: [(note, .status)]
        ).draw(in: canvas, y: 0)
        let body = canvas.part(x: 0, y: Self.origin, width: canvas.width, height: canvas.height - Self.origin - 1)
        height = max(1, body.height)
        fit()
        for line in map.lines where !isCurrent(line) { draw(line, boxWidth: boxWidth, in: body) }
        for line in map.lines where isCurrent(line) { draw(line, boxWidth: boxWidth, in: body) }
        for box in map.boxes { draw(box, width: boxWidth, in: body) }
        for index in map.stops.indices where map.stops[index].relationship != nil {
            drawRelationship(index, width: boxWidth, in: body)
        }
        let isOnRelationship = map.stops.indices.contains(cursor) && map.stops[cursor].relationship != nil
        let keysThatOpen = isOnRelationship ? [("Enter", "other end"), ("o", "open list")] : [("Enter o", "open list")]
        draw(
            keysThatOpen + [("Tab", "next entity"), ("j k", "move"), ("Esc", "close")],
            in: canvas)
    }

    /// Scrolls to the cursor and, if there is room, to the name of its entity.
    private func fit() {
        guard map.stops.indices.contains(cursor) else { return }
        let y = map.stops[cursor].y
        let box = map.boxes.first { $0.lines.contains(y) }?.lines ?? y...y
        if y < top + 1 { top = min(y, max(box.lowerBound, y - height + 2)) }
        let end = box.count < height ? box.upperBound : y
        if end >= top + height { top = end - height + 1 }
        top = max(0, min(top, map.height - 1))
    }

    private func isCurrent(_ line: ModelMap.Line) -> Bool {
        line.from == cursor || line.to == cursor
            || map.stops.indices.contains(cursor) && map.stops[cursor].relationship == nil
                && [line.from, line.to].contains { map.stops[$0].entity === map.stops[cursor].entity }
    }

    private func draw(_ line: ModelMap.Line, boxWidth: Int, in canvas: Canvas) {
        guard let lane = line.lane else { return }
        let (first, last) = (map.stops[line.from].y - top, map.stops[line.to].y - top)
        let x = boxWidth + 1 + lane * 2
        let signs = LineSigns(canvas)
        let style = Style(isCurrent(line) ? .link : .border)
        for y in first...last where (0..<canvas.height).contains(y) {
            let isEnd = y == first || y == last
            if isEnd {
                for column in boxWidth..<x {
                    let crosses = map.lines.contains { other in
                        guard let otherLane = other.lane, otherLane < lane else { return false }
                        return boxWidth + 1 + otherLane * 2 == column
                            && map.stops[other.from].y - top < y && y < map.stops[other.to].y - top
                    }
                    canvas.write(crosses ? signs.cross : signs.horizontal, x: column, y: y, style: style)
                }
            }
            let sign = y == first ? signs.topRight : y == last ? signs.bottomRight : signs.vertical
            // The end of a line in a farther lane crosses this line.
            let isCrossed =
                !isEnd
                && map.lines.contains { other in
                    guard let otherLane = other.lane, otherLane > lane else { return false }
                    return [other.from, other.to].contains { map.stops[$0].y - top == y }
                }
            canvas.write(isCrossed ? signs.cross : sign, x: x, y: y, style: style)
        }
        for stop in [line.from, line.to] where map.stops[stop].relationship == nil {
            canvas.write(signs.arrow, x: boxWidth, y: map.stops[stop].y - top, style: style)
        }
    }

    private func draw(_ box: (entity: NSEntityDescription, lines: ClosedRange<Int>), width: Int, in canvas: Canvas) {
        let signs = LineSigns(canvas)
        let isCurrent = map.stops.indices.contains(cursor) && map.stops[cursor].entity === box.entity
        let isHead = isCurrent && map.stops[cursor].relationship == nil
        let border = Style(isCurrent ? .heading : .border)
        for y in box.lines {
            let row = y - top
            guard (0..<canvas.height).contains(row) else { continue }
            let (left, right) =
                y == box.lines.lowerBound
                ? (signs.topLeft, signs.topRight)
                : y == box.lines.upperBound ? (signs.bottomLeft, signs.bottomRight) : (signs.vertical, signs.vertical)
            canvas.write(left, x: 0, y: row, style: border)
            canvas.write(right, x: width - 1, y: row, style: border)
            guard y == box.lines.lowerBound || y == box.lines.upperBound else { continue }
            for x in 1..<(width - 1) { canvas.write(signs.horizontal, x: x, y: row, style: border) }
        }
        let head = box.lines.lowerBound - top
        let count = counts[box.entity.name ?? ""].map { " \(GroupedNumber.text($0)) " } ?? tr(" abstract ")
        let countWidth = canvas.text.width(count)
        let parent = box.entity.superentity?.name.map { " : \($0)" } ?? ""
        canvas.write(
            " \(box.entity.name ?? "")\(parent) ", x: 2, y: head, style: Style(.heading, selected: isHead),
            limit: width - countWidth - 6)
        canvas.write(count, x: width - 2 - countWidth, y: head, style: .muted)
        let attributes = box.entity.properties.count { $0 is NSAttributeDescription }
        let names = box.entity.properties.filter { $0 is NSAttributeDescription }.map(\.name).joined(separator: ", ")
        canvas.write("\(attributes): \(names)", x: 2, y: head + 1, style: .muted, limit: width - 4)
    }

    private func drawRelationship(_ index: Int, width: Int, in canvas: Canvas) {
        let stop = map.stops[index]
        guard let relationship = stop.relationship, (0..<canvas.height).contains(stop.y - top) else { return }
        let other = map.stops.indices.contains(cursor) && map.stops[cursor].other == index
        let style = Style(other ? .link : .text, selected: index == cursor)
        let isUnicode = canvas.text.repertoire == .unicode
        let arrow = relationship.isToMany ? (isUnicode ? "⇉" : ">>") : (isUnicode ? "→" : ">")
        let text = "\(relationship.name) \(arrow) \(relationship.destinationEntity?.name ?? "?")"
        canvas.write(canvas.text.padded(text, to: width - 4), x: 2, y: stop.y - top, style: style)
        if map.lines.contains(where: { $0.lane != nil && ($0.from == index || $0.to == index) }) {
            canvas.write(LineSigns(canvas).leave, x: width - 1, y: stop.y - top, style: Style(.border))
        }
    }
}

/// The characters of lines and boxes.
private struct LineSigns {
    let horizontal, vertical, topLeft, topRight, bottomLeft, bottomRight, cross, leave, arrow: String

    init(_ canvas: Canvas) {
        let isUnicode = canvas.text.repertoire == .unicode
        horizontal = canvas.symbols.horizontal
        vertical = canvas.symbols.vertical
        topLeft = canvas.symbols.topLeft
        topRight = canvas.symbols.topRight
        bottomLeft = canvas.symbols.bottomLeft
        bottomRight = canvas.symbols.bottomRight
        cross = isUnicode ? "┼" : "+"
        leave = isUnicode ? "├" : "+"
        arrow = isUnicode ? "◂" : "<"
    }
}
