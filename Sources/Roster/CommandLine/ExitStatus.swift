import RosterCommands

/// Exit status of the program. Errors are converted to exit statuses only here.
struct ExitStatus: Equatable {
    let code: Int32

    /// The verb succeeded.
    static let done = ExitStatus(code: 0)
    /// The verb failed. One line on standard error gives the reason.
    static let failed = ExitStatus(code: 1)
    /// The command line is invalid. One line on standard error gives the reason.
    static let misuse = ExitStatus(code: 2)
    /// The verb did what it could. Standard error lists the work left for the user.
    static let incomplete = ExitStatus(code: 3)
    /// The stores that `diff` compares differ, as of the program `diff`.
    static let different = ExitStatus(code: 1)
    /// `diff` could not compare the stores.
    static let trouble = ExitStatus(code: 2)

    init(code: Int32) { self.code = code }

    init(for error: any Error) {
        switch (error as? CommandError)?.kind {
        case .misuse: self = .misuse
        case .failure, nil: self = .failed
        }
    }
}
