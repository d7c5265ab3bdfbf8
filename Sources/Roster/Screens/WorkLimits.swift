/// Numbers above which the browser works in the background or piece by piece, how large its pieces are, and how long it waits.
///
/// Tests set smaller ones: a few hundred records then take every path that otherwise takes many thousands.
nonisolated struct WorkLimits {
    // MARK: Lists

    /// Lists of more records are read in the background; shorter ones at once.
    var longList = 5000
    /// Rows that are read between two looks at the clock.
    var rowsAtOnce = 512
    /// More marked records are gathered by going through the list.
    var markedAtOnce = 2000
    /// The nearest match is looked up among at most this many that the store found.
    var matchesLookedUp = 2000
    /// The places of at most this many matches are looked up one by one.
    var placesLookedUp = 1000
    /// Texts of a histogram that have a line each.
    var histogramLines = 10_000
    /// Longest text for the clipboard, in bytes: terminals drop longer ones without a message.
    var clipboard = 74_000

    // MARK: Edits

    /// A change of more records is divided into groups of this many.
    var editGroup = 256
    /// A save of this many records or more reads the keys while it runs.
    var longSave = 2000
    /// Records that a long save looks at between two looks at the keys.
    var recordsPerLook = 64
    /// The pane of unsaved changes sorts more records block by block.
    var changesSortedAtOnce = 2000
    var changesBlock = 256

    // MARK: Times

    /// Time after which plain messages go.
    var messageTime = Duration.seconds(4)
    /// Time between two looks at the keys during work that is done in pieces.
    var slice = Duration.milliseconds(30)
    /// The same during a search.
    var searchSlice = Duration.milliseconds(15)
    /// A search doubles its pieces while they take less than half of this, and halves them where they take twice as much.
    var searchPiece = Duration.milliseconds(8)
    /// Time without changes after which the matches of a changed list are counted again.
    var restBeforeCounting = Duration.milliseconds(300)
    /// Time between two counts of an entity's records.
    var countInterval = Duration.seconds(1)
    /// Time between two attempts at a store that another program has locked.
    var lockPause = Duration.milliseconds(200)
    /// Most stores are open within this time: no other screen is shown for them.
    var quickOpening = Duration.milliseconds(400)
    /// Time after which the screen that waits for a store says why that may be.
    var openingNote = Duration.seconds(1)
}
