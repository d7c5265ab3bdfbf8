/// Thresholds above which the browser works in the background or in pieces, the sizes of the pieces, and waiting times.
///
/// Tests set small limits, which a few hundred records are enough to reach.
nonisolated struct WorkLimits {
    // MARK: Lists

    /// Maximum number of records in a list that is read at once; longer lists are read in the background.
    var longList = 5000
    /// Rows read between two checks of the clock.
    var rowsAtOnce = 512
    /// Maximum number of marked records that are looked up one by one; more are collected by iterating over the list.
    var markedAtOnce = 2000
    /// Maximum number of matches from the store among which the nearest match is searched.
    var matchesLookedUp = 2000
    /// Maximum number of matches whose positions are looked up one by one.
    var placesLookedUp = 1000
    /// Rows whose texts are remembered, for the case that they cannot be read again.
    var rowsRemembered = 1000
    /// Text values that get a line of their own in a histogram.
    var histogramLines = 10_000
    /// Rows of an answer in SQL that are shown.
    var answerRows = 100_000
    /// Longest text for the clipboard, in bytes. Terminals drop longer ones silently.
    var clipboard = 74_000

    // MARK: Edits

    /// Number of records in a group: an edit of more records is divided into groups.
    var editGroup = 256
    /// A save of at least this many records handles keys while it runs.
    var longSave = 2000
    /// Records that a long save processes between two checks for keys.
    var recordsPerLook = 64
    /// The unsaved-changes pane sorts more records than this block by block.
    var changesSortedAtOnce = 2000
    var changesBlock = 256

    // MARK: Times

    /// Time after which plain messages disappear.
    var messageTime = Duration.seconds(4)
    /// Time between two checks for keys during piecewise work.
    var slice = Duration.milliseconds(30)
    /// Time between two checks for keys during a search.
    var searchSlice = Duration.milliseconds(15)
    /// A search doubles pieces that take less than half of this time and halves those that take twice as long.
    var searchPiece = Duration.milliseconds(8)
    /// Time without changes after which the matches in a changed list are counted again.
    var restBeforeCounting = Duration.milliseconds(300)
    /// Time between two counts of an entity's records.
    var countInterval = Duration.seconds(1)
    /// Time between two attempts to use a store that another program has locked.
    var lockPause = Duration.milliseconds(200)
    /// Time between two attempts to read records that could not be read.
    var readPause = Duration.seconds(1)
    /// Time to wait for the store before the waiting screen is shown.
    var quickOpening = Duration.milliseconds(400)
    /// Time after which the waiting screen shows a possible reason.
    var openingNote = Duration.seconds(1)
}
