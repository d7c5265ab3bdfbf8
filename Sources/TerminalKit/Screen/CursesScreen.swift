import CNcursesw
import CTerminalRestore
import Foundation

/// The terminal in which the program was started, controlled through ncurses.
///
/// Design note. Each frame is a whole grid. The lines that differ from the last frame are passed to curses, which sends
/// the minimal changes. Each glyph is compared with the width in the C library, which curses uses: if the two differ,
/// the glyph is replaced by question marks of the right width, so that the line stays aligned. Only one thread may use
/// a screen, and only one screen can exist at a time.
public final class CursesScreen: Screen {
    /// The user's settings for the screen.
    public struct Options {
        /// True if the program gets mouse events, not the terminal.
        public var usesMouse = true
        /// True by default, unless `NO_COLOR` has a value.
        public var usesColors = (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
        /// The appearance of the roles.
        public var theme = Theme.terminal

        /// Creates the default settings.
        public init() {}
    }

    /// The text measurement of the screen.
    public let text: TextWidth
    /// Standard input.
    public var inputDescriptor: Int32? { STDIN_FILENO }
    private let handle: OpaquePointer
    private let theme: CursesTheme
    private var modes: TerminalModes
    private let shellModes: termios
    /// True if pictures can be shown.
    public var showsPictures: Bool { isKitty || sixels != nil }
    private let isKitty = KittyGraphics.isKnown(to: ProcessInfo.processInfo.environment)
    private var graphics = KittyGraphics()
    /// Set when the terminal has replied that it supports sixels.
    private var sixels: SixelGraphics?
    private var reader = KeyReader()
    private var shown: CellGrid?
    private var isClosed = false
    /// Called after each frame with its lines as they were written, for tests that compare them with an emulator's
    /// screen.
    public var onFrame: (([String]) -> Void)?

    /// Acquires the terminal.
    ///
    /// - Throws: ``TerminalError`` if standard input or output is not a terminal, or it cannot position the cursor.
    public init(options: Options = Options()) throws {
        try Self.requireTerminal()
        text = TextWidth(Self.chooseRepertoire())
        // After a resize, curses would use these instead of the terminal's size.
        unsetenv("LINES")
        unsetenv("COLUMNS")
        var before = termios()
        tcgetattr(STDIN_FILENO, &before)
        shellModes = before
        let type = ProcessInfo.processInfo.environment["TERM"] ?? ""
        guard type != "dumb" else { throw TerminalError.cannotPlaceCursor(type: type) }
        guard let handle = (type.isEmpty ? nil : ncurses_newterm(type)) ?? ncurses_newterm("xterm-256color") else {
            throw TerminalError.cannotOpen(type: type)
        }
        self.handle = handle
        set_term(handle)
        modes = TerminalModes(type: type, descriptor: STDOUT_FILENO, usesMouse: options.usesMouse)
        guard ncurses_capability("cup") != nil else {
            endwin()
            throw TerminalError.cannotPlaceCursor(type: type)
        }
        modes.clearForeignReports()
        Self.configureInput(usesMouse: options.usesMouse)
        theme = CursesTheme(options.theme, usesColors: options.usesColors)
        curs_set(0)
        modes.enter()
        modes.ask()
    }

    /// The text that restores the terminal, for a crash handler.
    var resetText: String { modes.reset }

    /// Restores the terminal. No frame may be presented afterwards.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        if isKitty { modes.send(graphics.text(toShow: [])) }
        modes.leave()
        endwin()
        self.modes.clearLastLine()
        var modes = shellModes
        tcsetattr(STDIN_FILENO, TCSANOW, &modes)
        delscreen(handle)
    }

    /// Copies text to the terminal's clipboard, also over a remote connection (OSC 52).
    ///
    /// - Returns: `true` if the terminal may support it.
    public func copy(_ text: String) -> Bool { modes.copy(text) }

    /// The current size.
    public var size: Size { Size(width: Int(ncurses_columns()), height: Int(ncurses_lines())) }

    // MARK: Setting up

    static func requireTerminal() throws {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { throw TerminalError.notATerminal }
    }

    /// Unicode if the locale is UTF-8, or if the environment sets no locale; ASCII for any other locale.
    private static func chooseRepertoire() -> TextWidth.Repertoire {
        setlocale(LC_CTYPE, "")
        func isUnicode() -> Bool { String(cString: nl_langinfo(Int32(CODESET))) == "UTF-8" }
        if isUnicode() { return .unicode }
        let environment = ProcessInfo.processInfo.environment
        let wanted = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        // A UTF-8 locale that is not installed also means UTF-8.
        let isUnicodeWanted = wanted.isEmpty || ["UTF-8", "UTF8"].contains { wanted.uppercased().hasSuffix($0) }
        if isUnicodeWanted, setlocale(LC_CTYPE, "C.UTF-8") != nil, isUnicode() { return .unicode }
        return .ascii
    }

    // SAFETY: the array in `termios` has an element for each of the system's constants.
    private static func configureInput(usesMouse: Bool) {
        set_escdelay(25)
        cbreak()
        noecho()
        nonl()
        // Ctrl-S, Ctrl-Q, Ctrl-C, Ctrl-V, Ctrl-O and Ctrl-\ are read as keys; Ctrl-Z still stops the process.
        var modes = termios()
        tcgetattr(STDIN_FILENO, &modes)
        modes.c_iflag &= ~tcflag_t(IXON)
        modes.c_lflag &= ~tcflag_t(IEXTEN)
        withUnsafeMutableBytes(of: &modes.c_cc) { characters in
            characters[Int(VINTR)] = 0
            characters[Int(VQUIT)] = 0
        }
        tcsetattr(STDIN_FILENO, TCSANOW, &modes)
        def_prog_mode()
        let window = ncurses_stdscr()
        keypad(window, true)
        nodelay(window, true)
        intrflush(window, false)
        guard usesMouse else { return }
        mousemask(
            ncurses_button1_pressed() | ncurses_button1_double() | ncurses_wheel_up() | ncurses_wheel_down(), nil)
        mouseinterval(0)
    }

    // MARK: Frames

    /// Shows a frame.
    public func present(_ frame: CellGrid) {
        let old = shown?.size == frame.size ? shown : nil
        var written = Set<Int>()
        for y in 0..<frame.size.height where old.map({ $0.line(y) != frame.line(y) }) ?? true {
            draw(frame.line(y), y: y)
            written.insert(y)
        }
        for lines in sixels?.lines(toClearFor: frame.pictures) ?? [] {
            let lines = lines.clamped(to: 0..<frame.size.height)
            wredrawln(ncurses_stdscr(), Int32(lines.lowerBound), Int32(lines.count))
            written.formUnion(lines)
        }
        shown = frame
        if let cursor = frame.cursor {
            leaveok(ncurses_stdscr(), false)
            wmove(ncurses_stdscr(), Int32(cursor.y), Int32(cursor.x))
            curs_set(1)
        } else {
            // A hidden cursor stays at the last change.
            leaveok(ncurses_stdscr(), true)
            curs_set(0)
        }
        wnoutrefresh(ncurses_stdscr())
        modes.beginFrame()
        doupdate()
        if isKitty {
            modes.send(graphics.text(toShow: frame.pictures))
        } else if sixels != nil {
            let isDamaged = { (lines: Range<Int>) in lines.contains { written.contains($0) } }
            modes.send(sixels?.text(toShow: frame.pictures, isDamaged: isDamaged, cell: cellSize) ?? "")
        }
        modes.endFrame()
        onFrame?((0..<frame.size.height).map { writtenText(of: frame.line($0)) })
    }

    /// The text of a line as `draw` writes it, with question marks for glyphs of disputed width.
    private func writtenText(of line: ArraySlice<CellGrid.Cell>) -> String {
        line.map { cell in
            let scalars = cell.text.unicodeScalars.map { wchar_t(bitPattern: $0.value) }
            let isWritten = cell.width == 0 || isSafe(scalars, width: Int32(cell.width))
            return isWritten ? cell.text : String(repeating: "?", count: Int(cell.width))
        }.joined()
    }

    /// The size of a cell in pixels; if the system does not know it, that of the first sixel terminals.
    private var cellSize: Size {
        var extent = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &extent) == 0, extent.ws_row > 0, extent.ws_col > 0,
            extent.ws_xpixel >= extent.ws_col, extent.ws_ypixel >= extent.ws_row
        else { return Size(width: 8, height: 16) }
        return Size(
            width: Int(extent.ws_xpixel / extent.ws_col), height: Int(extent.ws_ypixel / extent.ws_row))
    }

    private func draw(_ line: ArraySlice<CellGrid.Cell>, y: Int) {
        for (x, cell) in line.enumerated() where cell.width > 0 {
            let look = theme.look(of: cell.style)
            var scalars = cell.text.unicodeScalars.map { wchar_t(bitPattern: $0.value) }
            if !isSafe(scalars, width: Int32(cell.width)) {
                scalars = [wchar_t(0x3F)]
                if cell.width == 2 { put([wchar_t(0x3F)], x: x + 1, y: y, look: look) }
            }
            put(scalars, x: x, y: y, look: look)
        }
    }

    private func put(_ scalars: [wchar_t], x: Int, y: Int, look: CursesTheme.Look) {
        // Returns ERR for the last cell of the last line, as the cursor cannot advance, although the cell is written.
        _ = ncurses_put(Int32(y), Int32(x), scalars + [0], look.attributes, look.pair)
    }

    private func isSafe(_ scalars: [wchar_t], width: Int32) -> Bool {
        guard let first = scalars.first else { return false }
        if first >= 0x20, first < 0x7F, scalars.count == 1 { return true }
        return ncurses_width(first) == width && scalars.dropFirst().allSatisfy { ncurses_width($0) == 0 }
    }

    /// Redraws everything with the next frame.
    public func invalidate() {
        shown = nil
        graphics.forget()
        sixels?.forget()
        clearok(ncurses_stdscr(), true)
    }

    /// Updates the size from the terminal.
    public func updateSize() {
        var extent = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &extent) == 0, extent.ws_row > 0, extent.ws_col > 0 else { return }
        resizeterm(Int32(extent.ws_row), Int32(extent.ws_col))
        werase(ncurses_stdscr())
        shown = nil
    }

    /// Restores the terminal, stops the process, and acquires the terminal again when the process continues.
    public func suspend() {
        modes.leave()
        endwin()
        modes.clearLastLine()
        terminal_stop()
        modes.enter()
        updateSize()
        invalidate()
    }

    /// Restores the terminal for another program while `body` runs, and acquires it again.
    public func lend(_ body: () -> Void) {
        modes.leave()
        def_prog_mode()
        endwin()
        var shell = shellModes
        tcsetattr(STDIN_FILENO, TCSANOW, &shell)
        body()
        reset_prog_mode()
        modes.enter()
        updateSize()
        invalidate()
    }

    // MARK: Input

    /// The user's input since the last call. Does not wait.
    public func readEvents() -> [Event] {
        var events: [Event] = []
        while true {
            var code = wint_t()
            let result = wget_wch(ncurses_stdscr(), &code)
            if result == ERR {
                var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                if reader.isWaiting, poll(&input, 1, 25) > 0, input.revents & Int16(POLLIN) != 0 { continue }
                events += take(reader.flush())
                break
            }
            if let unit = unit(code: code, isKey: result == KEY_CODE_YES) { events += take(reader.read(unit)) }
        }
        return events
    }

    private func unit(code: wint_t, isKey: Bool) -> KeyReader.Unit? {
        guard isKey else { return .scalar(UInt32(code)) }
        let number = Int32(bitPattern: code)
        switch number {
        case KEY_MOUSE: return readMouse().map { .mouse($0) }
        case KEY_RESIZE: return nil
        default: return CursesKeys.key(number).map { .key($0) }
        }
    }

    private func readMouse() -> MouseEvent? {
        var event = MEVENT()
        guard getmouse(&event) == OK else { return nil }
        let place = Point(x: Int(event.x), y: Int(event.y))
        if event.bstate & ncurses_wheel_up() != 0 { return MouseEvent(.wheelUp, at: place) }
        if event.bstate & ncurses_wheel_down() != 0 { return MouseEvent(.wheelDown, at: place) }
        if event.bstate & ncurses_button1_double() != 0 { return MouseEvent(.doubleClick, at: place) }
        if event.bstate & ncurses_button1_pressed() != 0 { return MouseEvent(.press, at: place) }
        return nil
    }

    private func take(_ outputs: [KeyReader.Output]) -> [Event] {
        outputs.compactMap { output in
            switch output {
            case .event(let event): return event
            case .reply(let reply):
                if !isKitty, sixels == nil, SixelGraphics.isKnown(by: reply) == true { sixels = SixelGraphics() }
                if reply == "?2026;1$y" || reply == "?2026;2$y" { modes.synchronizesUpdates = true }
                return nil
            }
        }
    }
}
