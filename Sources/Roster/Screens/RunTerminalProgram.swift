import Foundation

/// Runs the terminal program until the user leaves it.
///
/// - Parameter options: the store and the list to open.
/// - Returns: the exit status of the process.
/// - Throws: an error with one clear line when there is no usable terminal.
///
/// Call on the main thread; the main queue is served while it runs.
func runTerminalProgram(_ options: BrowserOptions) throws -> Int32 {
    throw CocoaError(.featureUnsupported, userInfo: [NSLocalizedDescriptionKey: "the terminal program is not built yet"])
}
