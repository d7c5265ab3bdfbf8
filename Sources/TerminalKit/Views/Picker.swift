import Translation

/// What a picker shows. Only visible items are asked for.
public protocol PickerSource: AnyObject {
    /// How many items match the filter.
    var count: Int { get }
    func text(at index: Int) -> String
    /// A remark at the right of the item.
    func detail(at index: Int) -> String
    /// Narrows the items to those that have `text`: at once, or beside the keys, and ``isReading`` says so meanwhile.
    func filter(_ text: String)
    /// Whether the items are being looked for.
    var isReading: Bool { get }
    /// Where the cursor goes when they are found.
    var placeAfterReading: Int { get }
    /// Called on the main thread when they are found. Set by the picker.
    var onRead: () -> Void { get set }
}

extension PickerSource {
    /// Items that are found at once are never looked for.
    public var isReading: Bool { false }
    /// The first item.
    public var placeAfterReading: Int { 0 }
    /// Never called where items are found at once.
    public var onRead: () -> Void {
        get { {} }
        set {}
    }
}

/// A picker's items in an array.
public final class ArrayPickerSource: PickerSource {
    private let items: [(text: String, detail: String)]
    /// What each item is found by, in lower case.
    private let keywords: [String]
    /// The numbers of the items that match, in the original list.
    public private(set) var matching: [Int]

    /// - Parameter aliases: further names under which the items are found, in their order.
    public init(_ items: [(text: String, detail: String)], aliases: [String] = []) {
        self.items = items
        keywords = items.indices.map { index in
            let alias = aliases.indices.contains(index) ? aliases[index] : ""
            return [items[index].text, items[index].detail, alias].joined(separator: "\n").lowercased()
        }
        matching = Array(items.indices)
    }

    /// How many items match.
    public var count: Int { matching.count }
    /// The name of an item that matches.
    public func text(at index: Int) -> String { items[matching[index]].text }
    /// The remark of an item that matches.
    public func detail(at index: Int) -> String { items[matching[index]].detail }

    /// Narrows the items to those in which every word of `text` stands: first those that begin with it, then those of which
    /// a word of the name does, then the others, each in their order.
    public func filter(_ text: String) {
        let text = text.lowercased()
        let words = text.split(separator: " ")
        let found = items.indices.filter { index in words.allSatisfy { keywords[index].contains($0) } }
        guard !words.isEmpty else { return matching = found }
        let ranked = found.map { (index: $0, rank: rank(of: $0, for: text)) }
        matching = ranked.sorted { ($0.rank, $0.index) < ($1.rank, $1.index) }.map(\.index)
    }

    /// How well an item's name fits: 0 best. The text behind a colon describes it.
    private func rank(of index: Int, for text: String) -> Int {
        let name = items[index].text.lowercased().prefix { $0 != ":" }
        if name.hasPrefix(text) { return 0 }
        if name.split(separator: " ").contains(where: { $0.hasPrefix(text) }) { return 1 }
        return name.contains(text) ? 2 : 3
    }
}

/// A list to pick one item from, narrowed by typing.
public final class Picker: Layer {
    /// The title of the list.
    public let title: String
    /// The items.
    public let source: any PickerSource
    /// Whether the layer is to be taken off the screen.
    public private(set) var isFinished = false
    private var editor = LineEditor()
    private var cursor = 0
    private var top = 0
    private var height = 1
    private var listOrigin = Point(x: 0, y: 0)
    /// Called with the index in the source of the item picked.
    private let onPick: (Int) -> Void
    private let onCancel: () -> Void
    /// Whether the item under the cursor is taken as soon as the items are found.
    private var picksWhenRead = false

    /// A picker with the cursor on the item `selected`.
    ///
    /// - Parameters:
    ///   - title: the title of the list.
    ///   - source: the items.
    ///   - selected: the item that the cursor is on at first.
    ///   - onCancel: called when nothing is picked.
    ///   - onPick: called with the index in the source of the item that is picked.
    public init(
        title: String, source: any PickerSource, selected: Int = 0, onCancel: @escaping () -> Void = {},
        onPick: @escaping (Int) -> Void
    ) {
        self.title = tr(title)
        self.source = source
        self.cursor = max(0, min(selected, source.count - 1))
        self.onPick = onPick
        self.onCancel = onCancel
        source.onRead = { [weak self] in self?.sourceDidRead() }
    }

    private func sourceDidRead() {
        cursor = max(0, min(source.placeAfterReading, source.count - 1))
        top = 0
        if picksWhenRead { pick() }
    }

    /// A picker over an array, whose `onPick` gets the item's number in it.
    ///
    /// - Parameter aliases: further names under which the items are found.
    public convenience init(
        title: String, items: [(text: String, detail: String)], aliases: [String] = [], selected: Int = 0,
        onPick: @escaping (Int) -> Void
    ) {
        let source = ArrayPickerSource(items, aliases: aliases)
        self.init(title: title, source: source, selected: selected) { onPick(source.matching[$0]) }
    }

    /// Acts on an event; `false` when it means nothing here.
    public func handle(_ event: Event) -> Bool {
        switch event {
        case .key(let key): return handle(key)
        case .paste(let text):
            editor.insert(text)
            refilter()
            return true
        case .mouse(let mouse): return handle(mouse)
        default: return false
        }
    }

    private func handle(_ mouse: MouseEvent) -> Bool {
        switch mouse.action {
        case .wheelUp: move(by: -3)
        case .wheelDown: move(by: 3)
        case .press, .doubleClick:
            let index = top + mouse.position.y - listOrigin.y
            guard (0..<height).contains(mouse.position.y - listOrigin.y), index < source.count else { return true }
            cursor = index
            if mouse.action == .doubleClick { pick() }
        }
        return true
    }

    private func handle(_ key: Key) -> Bool {
        switch (key.code, key.modifiers) {
        case (.escape, []), (.character("c"), .control):
            source.onRead = {}
            isFinished = true
            onCancel()
        case (.enter, []): pick()
        case (.down, []), (.character("n"), .control), (.tab, []): move(by: 1)
        case (.up, []), (.character("p"), .control), (.tab, .shift): move(by: -1)
        case (.pageDown, []): move(by: height)
        case (.pageUp, []): move(by: -height)
        case (.home, []): move(by: -source.count)
        case (.end, []): move(by: source.count)
        default:
            guard editor.handle(key) else { return false }
            refilter()
        }
        return true
    }

    private func pick() {
        // What is shown is not what was typed yet.
        picksWhenRead = source.isReading
        guard source.count > 0, !picksWhenRead else { return }
        isFinished = true
        onPick(cursor)
    }

    private func refilter() {
        picksWhenRead = false
        source.filter(editor.text)
        cursor = 0
        top = 0
    }

    private func move(by step: Int) { cursor = max(0, min(source.count - 1, cursor + step)) }

    /// The keys that mean something now.
    public var footer: String? { tr("type to narrow  Enter pick  Esc cancel") }

    /// Paints the present state.
    public func draw(in canvas: Canvas) {
        let width = min(canvas.width, max(50, min(canvas.width * 2 / 3, 90)))
        let boxHeight = min(canvas.height, max(7, min(source.count + 5, canvas.height * 3 / 4)))
        let box = canvas.part(
            x: (canvas.width - width) / 2, y: (canvas.height - boxHeight) / 2, width: width, height: boxHeight)
        box.clear()
        box.box(title: title)
        height = max(1, boxHeight - 4)
        top = max(0, min(top, cursor))
        if cursor >= top + height { top = cursor - height + 1 }
        listOrigin = Point(x: box.frame.minX + 1, y: box.frame.minY + 2)
        let used = box.write("/", x: 1, y: 1, style: .key)
        let items = box.part(x: 1, y: 2, width: width - 2, height: height)
        for row in 0..<height where top + row < source.count { drawItem(top + row, in: items, y: row) }
        if source.isReading { box.write(" \(tr("looking…")) ", x: width - 14, y: 1, style: .muted, limit: 13) }
        if source.count == 0, !source.isReading { items.write(tr("nothing matches"), x: 1, y: 0, style: .muted) }
        let count = source.count == 1 ? tr("1 item") : tr("%s items", "\(source.count)")
        box.write(tr("Enter pick  Esc cancel  %s", count), x: 2, y: boxHeight - 2, style: .muted, limit: width - 4)
        editor.draw(in: box, x: 1 + used, y: 1, width: width - 3, style: .text, showsCursor: true)
    }

    private func drawItem(_ index: Int, in canvas: Canvas, y: Int) {
        let style = Style(.text, selected: index == cursor)
        canvas.fillLine(y, style: style)
        let detail = source.detail(at: index)
        let detailWidth = min(canvas.text.width(detail), canvas.width / 2)
        canvas.write(source.text(at: index), x: 1, y: y, style: style, limit: canvas.width - detailWidth - 3)
        canvas.write(
            detail, x: canvas.width - detailWidth - 1, y: y, style: Style(.muted, selected: index == cursor),
            limit: detailWidth)
    }
}
