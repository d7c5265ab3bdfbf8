import Foundation
import TerminalKit
import Translation

/// A month in which to pick a day.
final class CalendarPicker: CommandScreen, KeyHelping {
    private(set) var isFinished = false
    private(set) var day: Date
    private let marked: Date
    private let onPick: (Date) -> Void
    private let cycle: DateDisplay.Cycle
    private var origin = Point(x: 0, y: 0)
    private var firstOfGrid = Date.distantPast
    var keys = KeySequenceReader()
    let commands: CommandTable<CalendarPicker>
    private static let calendar = DateDisplay.utc
    private static let weekdays = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    /// - Parameters:
    ///   - date: the day where it begins. The time of the day stays with the day that is picked.
    ///   - commands: the commands under the user's keys.
    ///   - onPick: gets the date.
    init(_ date: Date, commands: CommandTable<CalendarPicker> = table, onPick: @escaping (Date) -> Void) {
        self.commands = commands
        let start = DateDisplay.isInCalendar(date) ? date : Date()
        cycle = DateDisplay.Cycle(of: start)
        day = cycle.moved(start)
        marked = day
        self.onPick = onPick
    }

    func move(by component: Calendar.Component, _ step: Int) {
        day = Self.calendar.date(byAdding: component, value: step, to: day) ?? day
    }

    func moveToToday() {
        let time = day.timeIntervalSince(Self.calendar.startOfDay(for: day))
        day = Self.calendar.startOfDay(for: cycle.moved(Date())).addingTimeInterval(time)
    }

    func pick() {
        isFinished = true
        onPick(cycle.back(day))
    }

    func close() { isFinished = true }

    static let keysName = "calendar"
    static let keysRemark = "The keys of the calendar."
    static let table = CommandTable<CalendarPicker>([
        Command("day forward", keys: "l <Right> +", category: "Calendar", help: "next day") { $0.move(by: .day, 1) },
        Command("day back", keys: "h <Left> -", category: "Calendar", help: "previous day") { $0.move(by: .day, -1) },
        Command("week forward", keys: "j <Down>", category: "Calendar", help: "next week") { $0.move(by: .day, 7) },
        Command("week back", keys: "k <Up>", category: "Calendar", help: "previous week") { $0.move(by: .day, -7) },
        Command("month forward", keys: "<PgDn> ] <C-f>", category: "Calendar", help: "next month") {
            $0.move(by: .month, 1)
        },
        Command("month back", keys: "<PgUp> [ <C-b>", category: "Calendar", help: "previous month") {
            $0.move(by: .month, -1)
        },
        Command("year forward", keys: "> }", category: "Calendar", help: "next year") { $0.move(by: .year, 1) },
        Command("year back", keys: "<lt> {", category: "Calendar", help: "previous year") { $0.move(by: .year, -1) },
        Command("today", keys: "t", category: "Calendar", help: "today") { $0.moveToToday() },
        Command("pick", keys: "<Enter> <Space>", category: "Calendar", help: "choose the day") { $0.pick() },
        Command("close", keys: "<Esc> q <C-c>", category: "Calendar", help: "close without changing the date") {
            $0.close()
        },
    ])

    var keyHelp: (title: String, keys: [(keys: String, help: String)]) { keyHelp("Keys of the calendar") }

    func handle(_ event: Event) -> Bool {
        switch event {
        case .key(let key):
            return run(key)
        case .mouse(let mouse):
            let (x, y) = (mouse.position.x - origin.x, mouse.position.y - origin.y)
            guard mouse.action != .wheelUp, mouse.action != .wheelDown else {
                move(by: .month, mouse.action == .wheelUp ? -1 : 1)
                return true
            }
            guard (0..<21).contains(x), (0..<6).contains(y) else { return true }
            let time = day.timeIntervalSince(Self.calendar.startOfDay(for: day))
            day = firstOfGrid.addingTimeInterval(Double(y * 7 + x / 3) * 86400 + time)
            if mouse.action == .doubleClick { pick() }
        default: return false
        }
        return true
    }

    var footer: String? { "Enter choose  arrows day, week  PgUp PgDn month  < > year  t today  Esc close" }

    func draw(in canvas: Canvas) {
        let box = canvas.part(
            x: (canvas.width - 25) / 2, y: max(0, (canvas.height - 10) / 2), width: 25, height: min(10, canvas.height))
        let parts = Self.calendar.dateComponents([.year, .month], from: day)
        guard let month = parts.month, let year = parts.year, let first = Self.calendar.date(from: parts) else {
            return
        }
        box.clear()
        box.box(title: sentence("\(tr(Self.months[month - 1])) \(cycle.year(year))"))
        for (index, name) in Self.weekdays.enumerated() { box.write(tr(name), x: 2 + 3 * index, y: 1, style: .muted) }
        // Weeks begin on Monday, as in ISO 8601.
        let offset = (Self.calendar.component(.weekday, from: first) + 5) % 7
        firstOfGrid = first.addingTimeInterval(Double(-offset) * 86400)
        origin = Point(x: box.frame.minX + 2, y: box.frame.minY + 2)
        for index in 0..<42 {
            let date = firstOfGrid.addingTimeInterval(Double(index) * 86400)
            let isHere = Self.calendar.isDate(date, inSameDayAs: day)
            let isInMonth = Self.calendar.component(.month, from: date) == month
            let isMarked = Self.calendar.isDate(date, inSameDayAs: marked)
            let text = String(Self.calendar.component(.day, from: date))
            box.write(
                text.count == 1 ? " " + text : text, x: 2 + 3 * (index % 7), y: 2 + index / 7,
                style: Style(isMarked ? .key : isInMonth ? .text : .muted, selected: isHere))
        }
    }
}
