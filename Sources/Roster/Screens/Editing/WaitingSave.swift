import TerminalKit
import Translation

/// A save delayed by another program's lock. It is retried between keys.
struct WaitingSave {
    let began = ContinuousClock.now
    let preference: SaveAttempt.Preference?
    let next: () -> Void
    var nextAttempt = ContinuousClock.now
}

extension Browser {
    /// Schedules the next attempt of a save, or gives up after `StoreLock.patience`.
    func waitToSave(preferring preference: SaveAttempt.Preference?, next: @escaping () -> Void) {
        if let waitingSave, ContinuousClock.now - waitingSave.began >= StoreLock.patience {
            self.waitingSave = nil
            return say("not saved: another program has locked the store; ^S tries again", role: .error)
        }
        if waitingSave == nil { waitingSave = WaitingSave(preference: preference, next: next) }
        waitingSave?.nextAttempt = .now + limits.lockPause
        needsDisplay = true
    }

    /// Retries a waiting save if its time has come.
    func retrySave() {
        guard let waiting = waitingSave, waiting.nextAttempt <= .now else { return }
        // The save waits while the user types, because it may ask a question.
        if isTyping {
            waitingSave?.nextAttempt = .now + limits.lockPause
        } else {
            save(preferring: waiting.preference, next: waiting.next)
        }
    }

    /// Stops a waiting save if the event is Esc or Ctrl-C. Returns true if it did.
    func stopsWaitingSave(_ event: Event) -> Bool {
        guard waitingSave != nil, case .key(let key) = event,
            [Key(.escape), Key(.character("c"), .control)].contains(key)
        else { return false }
        waitingSave = nil
        say("not saved; your changes are kept", role: .warning)
        return true
    }

    /// Text of the last line while a save waits.
    var waitingNote: String? {
        waitingSave.map { _ in tr("another program has locked the store; trying to save again, Esc stops") }
    }

    /// Status text for a save that waits.
    var activity: String? {
        waitingSave.map { Activity.text("saving", since: $0.began) }
    }
}
