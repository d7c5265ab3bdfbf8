/// `request as! NSFetchRequest<NSFetchRequestResult>` → `request.erased`, and casts of erased requests to typed ones.
enum RequestCastRule {
    static func apply(to work: inout PortingWork) {
        let casts = work.live.compactMap { index in
            work.isName(index) && work.source.isToken(index, "as") ? Cast(at: index, work.source) : nil
        }
        let variables = casts.isEmpty ? Variables() : Variables(of: work)
        for cast in casts {
            guard cast.type == "NSFetchRequest" else {
                work.note(
                    at: cast.index,
                    "cast to \(cast.type)<\(cast.argument)>: it fails at run time. Remove it: methods that take this type "
                        + "accept any result type")
                continue
            }
            rewrite(cast, variables, in: &work)
        }
    }

    private static func rewrite(_ cast: Cast, _ variables: Variables, in work: inout PortingWork) {
        let source = work.source
        let other =
            "cast to NSFetchRequest<\(cast.argument)>: it fails at run time. Use erased or typed(as:) of the request"
        guard let operand = Operand(endingAt: cast.index - 1, source) else { return work.note(at: cast.index, other) }
        let isErasing = cast.argument == "NSFetchRequestResult"
        if operand.isOpaque || variables.areOpaque(operand) || !isErasing && !variables.areRequests(operand) {
            return work.note(
                at: cast.index,
                "cast of an unknown type to NSFetchRequest<\(cast.argument)>: it only succeeds for exactly this type. Keep "
                    + "the static type of the request, and use erased or typed(as:)")
        }
        let member = isErasing ? ".erased" : ".typed(as: \(cast.argument).self)"
        if operand.isOptional {
            // `fetchRequestTemplate(forName:)` returns nil if the model has no such template.
            let mark = cast.sign == "?" ? "?" : "!"
            work.replace(
                cast.index - 1, through: cast.end, by: source.text(cast.index - 1) + mark + member, otherwise: other)
        } else if cast.sign == "?" {
            let type = "NSFetchRequest<\(cast.argument)>?"
            work.replace(
                cast.index - 1, through: cast.end, by: "\(source.text(cast.index - 1))\(member) as \(type)",
                otherwise: other)
        } else {
            work.replace(cast.index - 1, through: cast.end, by: source.text(cast.index - 1) + member, otherwise: other)
        }
    }

    /// Variables of a file that are, or may be, fetch requests.
    private struct Variables {
        /// Names of fetch requests of any result type.
        private var requests: Set<String> = []
        /// Names of variables whose type is only known at run time.
        private var opaque: Set<String> = []

        private static let anyTypes: Set<String> = ["Any", "AnyObject", "NSPersistentStoreRequest"]

        init() {}

        init(of work: PortingWork) {
            let source = work.source
            for index in work.live
            where source.isWord(index) && source.isWord(index - 1) || source.isToken(index + 1, ":") {
                let name = source.text(index)
                if source.isToken(index + 1, ":") {
                    if Self.anyTypes.contains(source.text(index + 2)) { opaque.insert(name) }
                    if source.isToken(index + 2, "NSFetchRequest") { requests.insert(name) }
                } else if source.isToken(index + 1, "="), ["let", "var"].contains(source.text(index - 1)) {
                    note(name, valueAt: index + 2, source)
                }
            }
        }

        /// Classifies a variable by the rest of the line that sets its initial value.
        private mutating func note(_ name: String, valueAt start: Int, _ source: SwiftSource) {
            var index = start
            while index < source.tokens.count, !source.startsLine(index) {
                let word = source.text(index)
                if ["copy", "mutableCopy"].contains(word), source.isToken(index + 1, "(") { opaque.insert(name) }
                if ["NSFetchRequest", "fetchRequest", "erased"].contains(word) { requests.insert(name) }
                index += 1
            }
        }

        func areOpaque(_ operand: Operand) -> Bool { operand.variable.map(opaque.contains) ?? false }

        func areRequests(_ operand: Operand) -> Bool {
            operand.isOptional || ["fetchRequest", "NSFetchRequest"].contains(operand.method ?? "")
                || operand.variable.map(requests.contains) ?? false
        }
    }

    /// A cast such as `as! NSFetchRequest<Note>`. A plain `as` selects an overload and is kept.
    private struct Cast {
        let index: Int
        let sign: String
        let type: String
        let argument: String
        let end: Int

        init?(at index: Int, _ source: SwiftSource) {
            let sign = source.text(index + 1), type = source.text(index + 2)
            guard ["!", "?"].contains(sign), source.touches(index, index + 1),
                ["NSFetchRequest", "NSFetchedResultsController", "NSAsynchronousFetchRequest"].contains(type),
                source.isToken(index + 3, "<")
            else { return nil }
            var end = index + 4
            while source.isWord(end), source.isToken(end + 1, ".") { end += 2 }
            guard source.isWord(end), source.isToken(end + 1, ">") else { return nil }
            self.index = index
            self.sign = sign
            self.type = type
            argument = (index + 4...end).map(source.text).joined()
            self.end = end + 1
        }
    }

    /// The operand of a cast, as far as its last tokens show.
    private struct Operand {
        /// The variable; nil if the operand is not one.
        var variable: String?
        /// The last method called, or nil.
        var method: String?

        /// Returns nil if the operand is not a variable, a call or an expression in parentheses.
        init?(endingAt index: Int, _ source: SwiftSource) {
            if source.isWord(index), !["try", "await", "in", "return"].contains(source.text(index)) {
                if !source.isToken(index - 1, ".") { variable = source.text(index) }
            } else if source.isToken(index, ")"), let opening = source.partner(index) {
                if source.isWord(opening - 1), source.touches(opening - 1, opening) {
                    method = source.text(opening - 1)
                } else if source.isToken(opening - 1, ">") {
                    // `NSFetchRequest<Note>(…)`
                    var place = opening - 2
                    while source.isWord(place) || source.isToken(place, ".") { place -= 1 }
                    if source.isToken(place, "<"), source.touches(place - 1, place) { method = source.text(place - 1) }
                }
            } else if source.isToken(index, "!") || source.isToken(index, "]") {
                return
            } else {
                return nil
            }
        }

        /// True if the result's type is only known at run time.
        var isOpaque: Bool { ["copy", "mutableCopy", "value", "object"].contains(method ?? "") }
        var isOptional: Bool { ["fetchRequestTemplate", "fetchRequestFromTemplate"].contains(method ?? "") }
    }
}
