import CTerminalRestore
import Foundation

/// The program that an event loop runs: it handles events and draws its state.
@MainActor public protocol TerminalProgram: AnyObject {
    func handle(_ event: Event)

    /// Draws the whole state. Called only after something has changed.
    func draw(in canvas: Canvas)

    /// True if the state changed without an event, in a callback on the main queue.
    var needsDisplay: Bool { get }

    /// The time of the next call of `wake`, for state that changes over time and for work split into pieces between
    /// keys; `nil` for never.
    var nextWake: ContinuousClock.Instant? { get }

    /// Does the work that is due. Sets `needsDisplay` if the screen changes.
    func wake()

    var isFinished: Bool { get }
}

/// Waits for keys, signals and work on the main queue, and shows a frame after each change.
///
/// Design note. The main thread owns the terminal and runs the main queue: `DispatchQueue.main` blocks and main-actor
/// work run between keys. One `poll` waits for the terminal, for signals, which arrive as bytes in a pipe, and for the
/// main queue's descriptor; an idle loop does not run at all. All pending input is read before a frame is drawn, so
/// that a held key never lags. Frames are at least a sixtieth of a second apart, those after input measured from each
/// other, so that a key does not wait because of another program's change. Input has precedence: work on the main
/// queue, such as merging other programs' changes, waits until the result of the keys is on the screen, but for one
/// turn at most, so that held keys do not block it.
@MainActor public final class EventLoop {
    private let screen: any Screen
    private static let frameInterval = Duration.milliseconds(16)
    private var needsFrame = true
    private var lastFrame = ContinuousClock.now - EventLoop.frameInterval
    /// True if the next frame shows the result of input, and the time of the last such frame.
    private var showsInput = false
    private var lastInputFrame = ContinuousClock.now - EventLoop.frameInterval
    /// True if work on the main queue was postponed in favour of keys.
    private var hasPutOff = false
    /// Events that were read and not handled yet. Work during the handling of a key reads the keys that follow it.
    private var events: ArraySlice<Event> = []
    /// The descriptor of the signal pipe; -1 while the loop does not run.
    private var signals: Int32 = -1
    /// True if the process has to be stopped as soon as no work is in progress.
    private var stopsLater = false

    /// Creates a loop for a screen.
    public init(screen: any Screen) { self.screen = screen }

    /// Runs until the program is finished. Main thread only.
    public func run(_ program: any TerminalProgram) {
        signals = terminal_signals_begin()
        defer {
            terminal_signals_end()
            signals = -1
        }
        while !program.isFinished {
            // Wake the program before drawing: its `nextWake` is now or earlier if it has work to do at once.
            if let wake = program.nextWake, wake <= .now { program.wake() }
            needsFrame = needsFrame || program.needsDisplay
            if needsFrame, .now >= nextFrame { showFrame(of: program) }
            let wake = program.nextWake
            let isLater = wake.map { $0 > .now } ?? false
            let deadline = [needsFrame ? nextFrame : nil, wake].compactMap { $0 }.min()
            if wait(Self.milliseconds(until: deadline), program: program) { needsFrame = true }
            if stopsLater {
                stopsLater = false
                stop(program)
            }
            // Such a program returns a new time in each call, so that its work would never be due above.
            if let wake, isLater, wake <= .now, !program.isFinished { program.wake() }
        }
    }

    /// Handles keys and shows a frame that is due, during work of the program on this thread. Work on the main queue
    /// and a stop of the process wait until that work is finished.
    public func attend(_ program: any TerminalProgram) {
        if wait(0, program: program, isAttending: true) { needsFrame = true }
        needsFrame = needsFrame || program.needsDisplay
        if needsFrame, .now >= nextFrame { showFrame(of: program) }
    }

    /// The earliest time of the next frame.
    private var nextFrame: ContinuousClock.Instant { (showsInput ? lastInputFrame : lastFrame) + Self.frameInterval }

    private func showFrame(of program: any TerminalProgram) {
        lastFrame = .now
        if showsInput { lastInputFrame = lastFrame }
        showsInput = false
        Self.show(program, on: screen)
        needsFrame = false
    }

    /// Draws the program's state on a screen.
    public static func show(_ program: any TerminalProgram, on screen: any Screen) {
        let grid = CellGrid(size: screen.size)
        program.draw(in: Canvas(grid: grid, text: screen.text))
        screen.present(grid)
    }

    /// Waits for events and handles them. Returns true if there were any.
    private func wait(_ milliseconds: Int32, program: any TerminalProgram, isAttending: Bool = false) -> Bool {
        let input = screen.inputDescriptor ?? -1
        let mainQueue = isAttending ? -1 : terminal_main_queue_descriptor()
        var descriptors = [input, signals, mainQueue].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let count = poll(&descriptors, nfds_t(descriptors.count), milliseconds)
        guard count > 0 || !events.isEmpty else { return false }
        var happened = false
        if descriptors[1].revents != 0 { happened = handleSignals(program, isAttending: isAttending) || happened }
        let hasInput = descriptors[0].revents & Int16(POLLIN) != 0
        if hasInput { events += screen.readEvents() }
        if handleEvents(program) { (happened, showsInput) = (true, true) }
        if descriptors[2].revents != 0, !program.isFinished {
            if hasInput, !hasPutOff {
                hasPutOff = true
                return true
            }
            // The result of the keys is shown before other work begins, which may take long.
            if hasPutOff, needsFrame || program.needsDisplay { showFrame(of: program) }
            hasPutOff = false
            terminal_main_queue_drain()
            happened = true
        }
        if descriptors[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0, input >= 0 {
            program.handle(.terminate(signal: SIGHUP))
        }
        return happened
    }

    /// Handles the events that were read. Returns true if there were any.
    private func handleEvents(_ program: any TerminalProgram) -> Bool {
        guard !events.isEmpty else { return false }
        while !program.isFinished, let event = events.popFirst() { program.handle(event) }
        events = []
        return true
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let (seconds, attoseconds) = (deadline - ContinuousClock.now).components
        let value = seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1
        return Int32(clamping: max(0, value))
    }

    private func stop(_ program: any TerminalProgram) {
        screen.suspend()
        program.handle(.resumed)
        program.handle(.resize(screen.size))
    }

    /// Handles the signals received; of several size changes only the last counts.
    private func handleSignals(_ program: any TerminalProgram, isAttending: Bool) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = read(signals, &buffer, buffer.count)
        guard count > 0 else { return false }
        let numbers = Set(buffer[..<count].map { Int32($0) })
        for number in [SIGTERM, SIGHUP, SIGINT] where numbers.contains(number) {
            program.handle(.terminate(signal: number))
        }
        if numbers.contains(SIGTSTP) {
            // Work in progress may have locked a store.
            if isAttending { stopsLater = true } else { stop(program) }
        } else if numbers.contains(SIGCONT) {
            screen.invalidate()
            program.handle(.resumed)
        }
        if numbers.contains(SIGWINCH) {
            screen.updateSize()
            program.handle(.resize(screen.size))
        }
        return true
    }
}
