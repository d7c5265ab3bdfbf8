import RosterCommands

/// How the program ends. This is the only place where errors become exit statuses.
struct ExitStatus: Equatable {
    let code: Int32

    /// What was asked is done.
    static let done = ExitStatus(code: 0)
    /// It could not be done; standard error says why, in one line.
    static let failed = ExitStatus(code: 1)
    /// The command line makes no sense; standard error says why, in one line.
    static let misuse = ExitStatus(code: 2)
    /// It is done as far as the program can do it; standard error says what is left to do.
    static let incomplete = ExitStatus(code: 3)

    init(code: Int32) { self.code = code }

    init(for error: any Error) {
        switch (error as? CommandError)?.kind {
        case .misuse: self = .misuse
        case .failure, nil: self = .failed
        }
    }
}
