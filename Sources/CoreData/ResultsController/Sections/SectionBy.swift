import Foundation

/// The rule that puts the objects of a results controller into sections, independent of their sort order. An addition
/// to Apple's interface.
///
/// ```swift
/// controller.sectionBy = .year("opened")
/// controller.sectionBy = .levels(.value("confederation"), .value("country"))
/// controller.sectionBy = .firstLetter("name").missing(.last)
/// ```
///
/// Each object is in exactly one section, and inside it in the order of the request's sort descriptors; these need not
/// make the objects of a section adjacent. Sections are in ascending order of their values by default. The value of a
/// section keeps its type (``SectionValue``); its name is a text: `1930`, `1930-07`, `1930-W28`, `1930-07-13`, `A`,
/// `10000–19999`.
///
/// A key path follows to-one relationships to an attribute. A key path that the entity does not have, or whose
/// attribute has the wrong type for the kind of section, is an error of `performFetch()` (134060).
///
/// A value, safe on any thread.
public struct SectionBy: Sendable {
    /// The place of the section of objects without a value.
    public enum Placement: Sendable {
        /// The section is placed before all others.
        case first
        /// The section is placed after all others.
        case last
    }

    enum Kind: Sendable {
        case value
        case period(Calendar.Component)
        case letter
        case bucket(Decimal)
        case computed(String?, @Sendable (NSManagedObject) -> SectionValue)
        case levels([SectionBy])
    }

    let kind: Kind
    let keyPath: String
    var calendar = Calendar(identifier: .gregorian)
    var locale = Locale(identifier: "en_US_POSIX")
    private(set) var isAscending = true
    private(set) var placement = Placement.first
    private(set) var keptValues: [SectionValue] = []
    private(set) var orderKeyPath: String?
    private(set) var comparator: (@Sendable (SectionValue, SectionValue) -> Bool)?

    private init(_ kind: Kind, _ keyPath: String) {
        self.kind = kind
        self.keyPath = keyPath
    }

    // MARK: Kinds

    /// Sections by the value at a key path. Texts are compared by code points and ordered by UTF-8 bytes. A key path
    /// that only the class can compute, such as that of a transient attribute, is read from each object.
    public static func value(_ keyPath: String) -> SectionBy { SectionBy(.value, keyPath) }

    /// Sections by the year of a date.
    ///
    /// - Parameters:
    ///   - keyPath: the key path of the date.
    ///   - calendar: the calendar of the years, with its time zone.
    public static func year(_ keyPath: String, calendar: Calendar = .current) -> SectionBy {
        period(.year, keyPath, calendar)
    }

    /// Sections by the month of the date at a key path, in the calendar's time zone.
    public static func month(_ keyPath: String, calendar: Calendar = .current) -> SectionBy {
        period(.month, keyPath, calendar)
    }

    /// Sections by the week of the date at a key path, in the calendar's time zone. A week begins on the calendar's
    /// first weekday and belongs to the calendar's year for that week.
    public static func week(_ keyPath: String, calendar: Calendar = .current) -> SectionBy {
        period(.weekOfYear, keyPath, calendar)
    }

    /// Sections by the day of the date at a key path, in the calendar's time zone.
    public static func day(_ keyPath: String, calendar: Calendar = .current) -> SectionBy {
        period(.day, keyPath, calendar)
    }

    private static func period(_ component: Calendar.Component, _ keyPath: String, _ calendar: Calendar) -> SectionBy {
        var section = SectionBy(.period(component), keyPath)
        section.calendar = calendar
        return section
    }

    /// Sections by the first letter of a text, as a capital without diacritics: `Ägypten` and `algeria` are under `A`.
    /// Texts that do not begin with a letter are under `#`, after all letters. Each character of a script without case,
    /// such as Chinese, is a section, because Foundation on Linux lacks an index of readings.
    ///
    /// - Parameters:
    ///   - keyPath: the key path of the text.
    ///   - locale: the locale whose rules make letters capitals.
    public static func firstLetter(_ keyPath: String, locale: Locale = .current) -> SectionBy {
        var section = SectionBy(.letter, keyPath)
        section.locale = locale
        return section
    }

    /// Sections by the size of a number: 0 up to `size`, `size` up to twice `size`, and so on, below 0 as well.
    ///
    /// - Precondition: `size` is greater than 0.
    public static func bucket(_ keyPath: String, size: Decimal) -> SectionBy {
        precondition(size > 0 && size.isFinite, "The size of a bucket must be greater than 0.")
        return SectionBy(.bucket(size), keyPath)
    }

    /// Sections by the result of a closure. It runs on the context's queue, for all objects in a fetch and then for
    /// each object that changes. It may read related objects, but is not called again when only these change.
    ///
    /// - Parameters:
    ///   - name: a name of the closure, under which a controller may cache sections on disk. Different closures need
    ///     different names. `nil`: sections are not cached.
    ///   - section: returns an object's section.
    public static func computed(
        cachedAs name: String? = nil, _ section: @escaping @Sendable (NSManagedObject) -> SectionValue
    ) -> SectionBy {
        SectionBy(.computed(name, section), "")
    }

    /// Sections by several nested values: one section for each existing combination, named `outer/inner`. The tree of
    /// levels, with counts at each, is ``NSFetchedResultsController/sectionTree``.
    ///
    /// - Precondition: There is at least one level, and no level has levels itself, or kept sections.
    public static func levels(_ levels: SectionBy...) -> SectionBy { self.levels(levels) }

    /// Sections by several nested values in a list: one section for each existing combination.
    ///
    /// - Precondition: There is at least one level, and no level has levels itself, or kept sections.
    public static func levels(_ levels: [SectionBy]) -> SectionBy {
        precondition(!levels.isEmpty, "Sections need at least one level.")
        for level in levels {
            if case .levels = level.kind { preconditionFailure("A level of sections cannot contain levels.") }
            precondition(level.keptValues.isEmpty, "Call keeping(_:) on the result of levels(_:), not on a level.")
        }
        return SectionBy(.levels(levels), "")
    }

    // MARK: Order

    /// A copy of this rule with the sections in descending order of their values.
    public func descending() -> SectionBy {
        var copy = self
        copy.isAscending = false
        return copy
    }

    /// A copy of this rule with another place than first for the section of objects without a value.
    public func missing(_ placement: Placement) -> SectionBy {
        var copy = self
        copy.placement = placement
        return copy
    }

    /// A copy of this rule with the sections in the order of the value at another key path, and of their own values if
    /// that is equal: for example leagues by rank, with their names as titles. Objects of one section should have the
    /// same value there; otherwise they are in separate sections with the same name.
    public func ordered(by keyPath: String) -> SectionBy {
        var copy = self
        copy.orderKeyPath = keyPath
        return copy
    }

    /// A copy of this rule with the sections in a custom order, which is not kept on disk.
    ///
    /// - Parameter areInIncreasingOrder: true if the first section precedes the second; neither is
    ///   ``SectionValue/missing``. Called on the context's queue, or on another thread during a refetch.
    public func ordered(
        using areInIncreasingOrder: @escaping @Sendable (SectionValue, SectionValue) -> Bool
    ) -> SectionBy {
        var copy = self
        copy.comparator = areInIncreasingOrder
        return copy
    }

    /// A copy of this rule with sections that exist even if they are empty, in the order of `values`, before all
    /// others.
    public func keeping(_ values: [SectionValue]) -> SectionBy {
        var copy = self
        copy.keptValues = []
        for value in values where !copy.keptValues.contains(value) { copy.keptValues.append(value) }
        return copy
    }

    /// A copy of this rule with sections of texts that exist even if they are empty, in the order of `values`, before
    /// all others; the empty text is for objects without a value.
    public func keeping(_ values: [String]) -> SectionBy { keeping(values.map { $0.isEmpty ? .missing : .text($0) }) }

    var levels: [SectionBy] { if case .levels(let levels) = kind { levels } else { [self] } }
}
