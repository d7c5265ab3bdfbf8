import CTerminalRestore
import Foundation

/// What an event loop runs: it acts on events and paints its state.
public protocol TerminalProgram: AnyObject {
    func handle(_ event: Event)

    /// Paints the whole state. Called only when something happened since the last time.
    func draw(in canvas: Canvas)

    /// Whether the state changed without an event: a callback on the main queue did it.
    var needsDisplay: Bool { get }

    /// When `wake` shall be called next: for what changes by itself with time, or is done piece by piece between keys.
    /// `nil` is never.
    var nextWake: ContinuousClock.Instant? { get }

    /// Does what was due. What changes the screen sets `needsDisplay`.
    func wake()

    var isFinished: Bool { get }
}

/// Waits for keys, signals and work of the main queue, and shows a frame when something changed.
///
/// Design note. The main thread owns the terminal and is the main queue, as on a phone: `DispatchQueue.main` blocks and
/// main-actor work run between keys. It waits in one `poll` for the terminal, for signals, which come as bytes through a
/// pipe, and for the main queue's descriptor; while nothing happens it does not run at all. All pending input is read
/// before a frame is drawn, so that a held key never lags behind, and frames are at least a sixtieth of a second apart: those
/// that keys ask for from each other, so that a key does not wait for the frame after one that another program's change asked for.
/// Keys go first: work of the main queue, such as changes of other programs that are merged, waits until what the keys
/// did is on the screen, for one turn at most, so that held keys do not keep the changes away.
public final class EventLoop {
    private let screen: any Screen
    private static let frameInterval = Duration.milliseconds(16)
    private var needsFrame = true
    private var lastFrame = ContinuousClock.now - EventLoop.frameInterval
    /// Whether the next frame shows what input did, and when the last such frame was shown.
    private var showsInput = false
    private var lastInputFrame = ContinuousClock.now - EventLoop.frameInterval
    /// Whether the main queue was left to wait for keys.
    private var hasPutOff = false
    /// What was read and not handled yet: work that goes on within the handling of a key takes up the keys behind it.
    private var events: ArraySlice<Event> = []
    /// Where signals come as bytes; -1 while the loop does not run.
    private var signals: Int32 = -1
    /// Whether the process shall be stopped as soon as no work is in the middle of something.
    private var stopsLater = false

    /// A loop over that screen.
    public init(screen: any Screen) { self.screen = screen }

    /// Runs until the program is finished. On the main thread.
    public func run(_ program: any TerminalProgram) {
        signals = terminal_signals_begin()
        defer {
            terminal_signals_end()
            signals = -1
        }
        while !program.isFinished {
            // Asked first: a program that has something to do at once answers with the time at which it was asked.
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
            // What is to be done again and again is asked for anew each time, and so would never be due above.
            if let wake, isLater, wake <= .now, !program.isFinished { program.wake() }
        }
    }

    /// Looks at the keys, and shows a frame that is due, for work of the program that goes on meanwhile on this thread. Work of the
    /// main queue waits until that is over, and so does a stop of the process.
    public func attend(_ program: any TerminalProgram) {
        if wait(0, program: program, isAttending: true) { needsFrame = true }
        needsFrame = needsFrame || program.needsDisplay
        if needsFrame, .now >= nextFrame { showFrame(of: program) }
    }

    /// When the next frame may be shown.
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

    /// Waits until something happens, and acts on it. Answers whether anything did.
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
            // What the keys did is seen before other work begins, which may take its time.
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

    /// Acts on what was read. Answers whether there was anything.
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

    /// Acts on the signals that came; of several changes of size only the last counts.
    private func handleSignals(_ program: any TerminalProgram, isAttending: Bool) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = read(signals, &buffer, buffer.count)
        guard count > 0 else { return false }
        let numbers = Set(buffer[..<count].map { Int32($0) })
        for number in [SIGTERM, SIGHUP, SIGINT] where numbers.contains(number) {
            program.handle(.terminate(signal: number))
        }
        if numbers.contains(SIGTSTP) {
            // What is in the middle of something may have a store locked.
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
