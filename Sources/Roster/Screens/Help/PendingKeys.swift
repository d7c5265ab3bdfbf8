import TerminalKit
import Translation

/// The box with the keys that may follow the keys pressed so far. It appears if the user hesitates.
struct PendingKeys {
    /// Time of the first key of an unfinished sequence.
    private var since: ContinuousClock.Instant?
    /// Delay before the box appears; `nil` if it never appears.
    let delay: Duration?
    /// True after the wake-up that makes the box appear without a key or a change of the store.
    private var hasWoken = false

    init(delay: Duration?) { self.delay = delay }

    /// Called after each key press. Starts the delay if `keys` has an unfinished sequence, and resets it otherwise.
    mutating func note(_ keys: KeySequenceReader, now: ContinuousClock.Instant = .now) {
        if keys.pending.isEmpty {
            (since, hasWoken) = (nil, false)
        } else if since == nil {
            since = now
        }
    }

    /// Records that the program was woken. Returns true if the box appears because of that.
    mutating func wake(now: ContinuousClock.Instant = .now) -> Bool {
        guard !hasWoken, isShown(now: now) else { return false }
        hasWoken = true
        return true
    }

    /// Time at which the program has to wake to show the box; `nil` if the box is visible or not pending.
    var nextWake: ContinuousClock.Instant? { hasWoken ? nil : showTime }

    private var showTime: ContinuousClock.Instant? {
        guard let since, let delay else { return nil }
        return since + delay
    }

    func isShown(now: ContinuousClock.Instant = .now) -> Bool { showTime.map { $0 <= now } ?? false }

    /// Draws the box over the lower part of `canvas`.
    ///
    /// - Parameter next: the keys that may follow, with descriptions.
    static func draw(_ keys: [Key], next: [(key: Key, name: String)], in canvas: Canvas) {
        guard !next.isEmpty, canvas.height >= 5, canvas.width >= 30 else { return }
        let keyWidth = next.map { canvas.text.width($0.key.label) }.max() ?? 1
        let nameWidth = next.map { canvas.text.width($0.name) }.max() ?? 1
        let columnWidth = min(canvas.width - 4, keyWidth + nameWidth + 5)
        let columns = max(1, min(next.count, (canvas.width - 4) / columnWidth))
        let rows = min(canvas.height - 3, (next.count + columns - 1) / columns)
        let box = canvas.part(x: 0, y: canvas.height - rows - 2, width: canvas.width, height: rows + 2)
        box.clear()
        box.box(title: KeySequence(keys: keys).label)
        let cells = rows * columns
        let shown = next.count > cells ? cells - 1 : next.count
        if shown < next.count {
            let text = sentence("… \(next.count - shown) more")
            let (x, y) = (2 + shown / rows * columnWidth, 1 + shown % rows)
            box.write(text, x: x, y: y, style: .muted, limit: columnWidth - 2)
        }
        for (index, item) in next.prefix(shown).enumerated() {
            let x = 2 + index / rows * columnWidth
            let y = 1 + index % rows
            let label = canvas.text.padded(item.key.label, to: keyWidth, alignment: .right)
            let used = box.write(label, x: x, y: y, style: .key)
            box.write(item.name, x: x + used + 2, y: y, limit: columnWidth - used - 4)
        }
    }
}
