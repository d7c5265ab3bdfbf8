import Translation

/// The contents of a picker. The picker reads only visible items.
@MainActor public protocol PickerSource: AnyObject {
    /// The number of items that match the filter.
    var count: Int { get }
    func text(at index: Int) -> String
    /// A remark shown at the right of the item.
    func detail(at index: Int) -> String
    /// Filters the items by `text`, either at once, or in the background while ``isReading`` is true.
    func filter(_ text: String)
    /// True while a search is in progress.
    var isReading: Bool { get }
    /// The position of the cursor after the search.
    var placeAfterReading: Int { get }
    /// Called on the main thread after the search. Set by the picker.
    var onRead: () -> Void { get set }
}

extension PickerSource {
    /// Always false: the items are filtered at once.
    public var isReading: Bool { false }
    /// The first item.
    public var placeAfterReading: Int { 0 }
    /// Never called, as items are found at once.
    public var onRead: () -> Void {
        get { {} }
        set {}
    }
}

/// A picker's items in an array.
public final class ArrayPickerSource: PickerSource {
    private let items: [(text: String, detail: String)]
    /// The lower-case text by which each item is found.
    private let keywords: [String]
    /// The indices of the matching items in the original list.
    public private(set) var matching: [Int]

    /// - Parameter aliases: Additional names of the items, in the same order.
    public init(_ items: [(text: String, detail: String)], aliases: [String] = []) {
        self.items = items
        keywords = items.indices.map { index in
            let alias = aliases.indices.contains(index) ? aliases[index] : ""
            return [items[index].text, items[index].detail, alias].joined(separator: "\n").lowercased()
        }
        matching = Array(items.indices)
    }

    /// The number of matching items.
    public var count: Int { matching.count }
    /// The name of a matching item.
    public func text(at index: Int) -> String { items[matching[index]].text }
    /// The remark of a matching item.
    public func detail(at index: Int) -> String { items[matching[index]].detail }

    /// Restricts the items to those that contain every word of `text`. First are names that begin with it, then names
    /// with a word that does, then names that contain it, then the others, each in the original order.
    public func filter(_ text: String) {
        let text = text.lowercased()
        let words = text.split(separator: " ")
        let found = items.indices.filter { index in words.allSatisfy { keywords[index].contains($0) } }
        guard !words.isEmpty else { return matching = found }
        let ranked = found.map { (index: $0, rank: rank(of: $0, for: text)) }
        matching = ranked.sorted { ($0.rank, $0.index) < ($1.rank, $1.index) }.map(\.index)
    }

    /// The rank of an item's name: 0 is best. Text after a colon is a description and does not count.
    private func rank(of index: Int, for text: String) -> Int {
        let name = items[index].text.lowercased().prefix { $0 != ":" }
        if name.hasPrefix(text) { return 0 }
        if name.split(separator: " ").contains(where: { $0.hasPrefix(text) }) { return 1 }
        return name.contains(text) ? 2 : 3
    }
}

/// A list in which the user picks one item, filtered by typing.
public final class Picker: Layer {
    /// The title of the list.
    public let title: String
    /// The items.
    public let source: any PickerSource
    /// True if the layer has to be removed from the screen.
    public private(set) var isFinished = false
    /// Always true: the user types text to filter the items.
    public var acceptsText: Bool { true }
    private var editor = LineEditor()
    private var cursor = 0
    private var top = 0
    private var height = 1
    private var listOrigin = Point(x: 0, y: 0)
    /// Called with the picked item's index in the source.
    private let onPick: (Int) -> Void
    private let onCancel: () -> Void
    /// True if the item under the cursor is picked as soon as the search finishes.
    private var picksWhenRead = false

    /// Creates a picker with the cursor on the item `selected`.
    ///
    /// - Parameters:
    ///   - title: The title of the list.
    ///   - source: The items.
    ///   - selected: The item that initially has the cursor.
    ///   - onCancel: Called if nothing is picked.
    ///   - onPick: Called with the picked item's index in the source.
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

    /// Creates a picker for an array. Its `onPick` gets the index in the array.
    ///
    /// - Parameter aliases: Additional names of the items.
    public convenience init(
        title: String, items: [(text: String, detail: String)], aliases: [String] = [], selected: Int = 0,
        onPick: @escaping (Int) -> Void
    ) {
        let source = ArrayPickerSource(items, aliases: aliases)
        self.init(title: title, source: source, selected: selected) { onPick(source.matching[$0]) }
    }

    /// Handles an event. Returns `false` if it is not handled.
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
        // The items shown do not match the typed text yet.
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

    /// The keys that are available now.
    public var footer: String? { tr("type to filter  Enter pick  Esc cancel") }

    /// Draws the current state.
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
