import TerminalKit
import Translation

/// A save that another program's lock holds up. It is tried again between the keys.
struct WaitingSave {
    let began = ContinuousClock.now
    let preference: SaveAttempt.Preference?
    let next: () -> Void
    var nextAttempt = ContinuousClock.now
}

extension Browser {
    /// Takes a note of a save that has to wait.
    func waitToSave(preferring preference: SaveAttempt.Preference?, next: @escaping () -> Void) {
        if let waitingSave, ContinuousClock.now - waitingSave.began >= StoreLock.patience {
            self.waitingSave = nil
            return say("not saved: another program keeps the store locked; ^S tries again", role: .error)
        }
        if waitingSave == nil { waitingSave = WaitingSave(preference: preference, next: next) }
        waitingSave?.nextAttempt = .now + limits.lockPause
        needsDisplay = true
    }

    /// Tries a save again that waits, when its time has come.
    func retrySave() {
        guard let waiting = waitingSave, waiting.nextAttempt <= .now else { return }
        // It may ask something.
        if isTyping {
            waitingSave?.nextAttempt = .now + limits.lockPause
        } else {
            save(preferring: waiting.preference, next: waiting.next)
        }
    }

    /// Whether an event stops a save that waits.
    func stopsWaitingSave(_ event: Event) -> Bool {
        guard waitingSave != nil, case .key(let key) = event,
            [Key(.escape), Key(.character("c"), .control)].contains(key)
        else { return false }
        waitingSave = nil
        say("not saved: your changes are as they were", role: .warning)
        return true
    }

    /// What the last line says while a save waits.
    var waitingNote: String? {
        waitingSave.map { _ in tr("another program has the store locked: the save is tried again, Esc stops it") }
    }

    /// What is said of work that goes on beside the keys.
    var activity: String? {
        waitingSave.map { Activity.text("saving", since: $0.began) }
    }
}
