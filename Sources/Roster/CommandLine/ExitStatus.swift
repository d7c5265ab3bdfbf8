import RosterCommands

/// How the program ends. This is the only place where errors become exit statuses.
struct ExitStatus: Equatable {
    let code: Int32

    /// Success.
    static let done = ExitStatus(code: 0)
    /// It could not be done; standard error says why, in one line.
    static let failed = ExitStatus(code: 1)
    /// The command line makes no sense; standard error says why, in one line.
    static let misuse = ExitStatus(code: 2)
    /// Partly done; standard error lists the remaining work.
    static let incomplete = ExitStatus(code: 3)

    init(code: Int32) { self.code = code }

    init(for error: any Error) {
        switch (error as? CommandError)?.kind {
        case .misuse: self = .misuse
        case .failure, nil: self = .failed
        }
    }
}
