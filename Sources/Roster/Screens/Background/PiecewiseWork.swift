import TerminalKit
import Translation

/// Work on the main thread that is done in pieces. Between them, keys are read but ignored, except Esc, which stops the
/// work: keys typed ahead must not answer a question that appears at the end.
final class PiecewiseWork: WorkingLayer {
    private unowned let browser: Browser
    private let what: String
    private let share: () -> Double
    private let piece: (ContinuousClock.Instant) throws -> Bool
    private let fail: (any Error) -> Void
    private let stop: (() -> Void)?
    private let next: () -> Void
    private let began = ContinuousClock.now
    /// Time of the last redraw.
    private var shown = ContinuousClock.now
    private(set) var isFinished = false

    fileprivate init(
        _ what: String, in browser: Browser, share: @escaping () -> Double,
        _ piece: @escaping (ContinuousClock.Instant) throws -> Bool, orElse fail: @escaping (any Error) -> Void,
        onStop stop: (() -> Void)?, then next: @escaping () -> Void
    ) {
        (self.what, self.browser, self.share, self.piece) = (what, browser, share, piece)
        (self.fail, self.stop, self.next) = (fail, stop, next)
    }

    var isWorking: Bool { !isFinished }

    func takeUp() {
        guard isWorking else { return }
        do {
            guard try piece(.now + browser.limits.slice) else { return }
            end()
            next()
        } catch {
            end()
            fail(error)
        }
    }

    private func end() {
        isFinished = true
        browser.layers.removeFinished()
    }

    func handle(_ event: Event) -> Bool {
        let stops = event == .key(Key(.escape)) || event == .key(Key(.character("c"), .control))
        guard stops, let stop else { return true }
        end()
        stop()
        return true
    }

    var footer: String? {
        let text = Activity.text("\(what) \(min(99, Int(share() * 100))) %", since: began)
        return stop == nil ? text : sentence("\(text), Esc stops")
    }

    /// True if the last redraw is recent. Redrawing after every piece would take a large part of the time.
    var needsNoDisplay: Bool { isWorking && shown + Activity.interval > .now }

    func draw(in canvas: Canvas) { shown = .now }
}

extension Browser {
    /// Does work in pieces. The first piece runs at once: short work is complete when this returns.
    ///
    /// - Parameters:
    ///   - what: the text shown while the work runs.
    ///   - share: returns the completed fraction, from 0 to 1.
    ///   - piece: works until the given time; returns true when all is done.
    ///   - fail: called with the error of a later piece, which ends the work.
    ///   - stop: called when the user stops the work.
    ///   - next: called when all is done.
    /// - Throws: the error of the first piece.
    func workPiecewise(
        _ what: String, share: @escaping () -> Double, _ piece: @escaping (ContinuousClock.Instant) throws -> Bool,
        orElse fail: ((any Error) -> Void)? = nil, onStop stop: (() -> Void)? = nil, then next: @escaping () -> Void
    ) throws {
        if try piece(.now + limits.slice) { return next() }
        push(
            PiecewiseWork(
                what, in: self, share: share, piece, orElse: fail ?? { [unowned self] in complain($0) },
                onStop: stop ?? { [unowned self] in say(sentence("stopped \(what)")) }, then: next))
    }

    /// Does work that cannot fail and cannot be stopped.
    func finishPiecewise(
        _ what: String, share: @escaping () -> Double, _ piece: @escaping (ContinuousClock.Instant) -> Bool,
        then next: @escaping () -> Void
    ) {
        if piece(.now + limits.slice) { return next() }
        push(PiecewiseWork(what, in: self, share: share, piece, orElse: { _ in }, onStop: nil, then: next))
    }

    private func push(_ work: PiecewiseWork) {
        layers.push(work)
        needsDisplay = true
    }
}
