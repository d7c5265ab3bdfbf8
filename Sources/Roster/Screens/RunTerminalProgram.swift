import Foundation
import TerminalKit

/// Runs the terminal program until the user leaves it.
///
/// - Parameter options: the store and the list to open.
/// - Returns: the exit status of the process.
/// - Throws: an error with a one-line message if the store or a usable terminal is missing.
///
/// Call on the main thread; the main queue is served while it runs.
func runTerminalProgram(_ options: BrowserOptions) throws -> Int32 {
    guard !options.storeURL.isFileURL || FileManager.default.fileExists(atPath: options.storeURL.path) else {
        throw CocoaError(
            .fileNoSuchFile,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "no store at \(options.storeURL.path); “roster create” makes one"
            ])
    }
    // In a pipe the screen uses the terminal, and the answer is written to the original standard output.
    let redirection = options.usesOwnTerminal ? try TerminalRedirection() : nil
    defer { redirection?.end() }
    try TerminalSession.requireTerminal()
    let browser = Browser(options: options)
    browser.open()
    // Errors in the command line are printed in the shell, before a screen is opened.
    if browser.isFinished {
        if let words = browser.lastWords { StandardError.write("roster: \(words)\n") }
        return browser.status
    }
    var screen = CursesScreen.Options()
    screen.usesMouse = options.preferences.usesMouse
    screen.theme = options.preferences.theme
    let terminal = try TerminalSession(options: screen)
    browser.redraw = { [screen = terminal.screen] in screen.invalidate() }
    browser.copyText = { [screen = terminal.screen] in screen.copy($0) }
    browser.canShowPictures = { [screen = terminal.screen] in screen.showsPictures }
    browser.lendTerminal = { [screen = terminal.screen] in screen.lend($0) }
    if let path = ProcessInfo.processInfo.environment["ROSTER_FRAMES"], !path.isEmpty {
        // For Scripts/terminal-check: write the last frame to a file.
        let file = URL(fileURLWithPath: path)
        terminal.screen.onFrame = { lines in
            try? Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file, options: .atomic)
        }
    }
    let loop = EventLoop(screen: terminal.screen)
    browser.attend = { [unowned browser] in loop.attend(browser) }
    loop.run(browser)
    let status = browser.status == 0 && browser.isPicking && browser.picked.isEmpty ? 1 : browser.status
    let words = browser.lastWords
    terminal.close()
    try browser.close()
    redirection?.end()
    if let words { StandardError.write("roster: \(words)\n") }
    if status == 0, !browser.picked.isEmpty, let pick = options.pick {
        let output = StandardOutput()
        try output.write(pick.output(of: browser.picked))
        try output.flush()
    }
    return status
}
