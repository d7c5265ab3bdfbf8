import TerminalKit
import Translation

/// The screen shown while the store is being opened.
final class WaitingScreen: Layer {
    private let what: String
    private let note: String
    private let noteDelay: Duration
    private let began: ContinuousClock.Instant
    private let onCancel: () -> Void
    var isFinished = false

    /// - Parameter noteDelay: Time after which the note is shown.
    init(
        _ what: String, note: String, after noteDelay: Duration, began: ContinuousClock.Instant,
        onCancel: @escaping () -> Void
    ) {
        self.what = what
        self.note = note
        self.noteDelay = noteDelay
        self.began = began
        self.onCancel = onCancel
    }

    func handle(_ event: Event) -> Bool {
        guard case .key(let key) = event else { return true }
        let cancelling = [Key(.escape), Key(.character("q")), Key(.character("Q")), Key(.character("c"), .control)]
        if cancelling.contains(key) { onCancel() }
        return true
    }

    func draw(in canvas: Canvas) {
        canvas.clear()
        canvas.write(Activity.text(what, since: began), x: 1, y: 0, style: .text)
        if ContinuousClock.now - began > noteDelay { canvas.write(note, x: 3, y: 2, style: .muted) }
        canvas.write(tr("Esc stops"), x: 0, y: canvas.height - 1, style: .muted)
    }
}
