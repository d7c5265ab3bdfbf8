import CoreData
import Foundation
import TerminalKit
import Translation

extension ListScreen {
    func handle(_ event: Event) -> Bool {
        switch event {
        case .key where isDetailFocused && detailPane != nil: return detailPane?.handle(event) ?? false
        case .key(let key): return handle(key)
        case .mouse(let mouse):
            find.stop()
            if let detailPane, detailPane.contains(mouse.position) {
                if mouse.action == .press { isDetailFocused = true }
                return detailPane.handle(event)
            }
            if mouse.action == .press { isDetailFocused = false }
            handle(mouse)
            return true
        default: return false
        }
    }

    private func handle(_ key: Key) -> Bool {
        if find.stop(), [Key(.escape), Key(.character("c"), .control)].contains(key) {
            browser.say(sentence("stopped searching for “\(find.pattern?.text ?? "")”"))
            return true
        }
        if [Key(.escape), Key(.character("c"), .control)].contains(key), keys.pendingLabel.isEmpty,
            let work = stopWork()
        {
            browser.say(sentence("stopped \(work.what); the list was not changed, R reloads it"))
            return true
        }
        if awaitsIndexLetter {
            awaitsIndexLetter = false
            if let letter = key.typed { jump(toIndexLetter: letter) }
            return true
        }
        let match = keys.read(key, in: commands)
        pendingKeys.note(keys)
        switch match {
        case .command(let command):
            if let reason = command.unavailable(self) {
                browser.say(reason, role: .warning)
            } else {
                command.action(self)
            }
            return true
        case .prefix: return true
        case .none: return false
        }
    }

    private func handle(_ mouse: MouseEvent) {
        switch mouse.action {
        case .wheelUp: view.scroll(by: -3)
        case .wheelDown: view.scroll(by: 3)
        case .press, .doubleClick: press(mouse)
        }
    }

    private func press(_ mouse: MouseEvent) {
        let now = ContinuousClock.now
        let isDouble =
            mouse.action == .doubleClick
            || lastClick.map { $0.point.y == mouse.position.y && now - $0.time < .milliseconds(400) } ?? false
        lastClick = (mouse.position, now)
        if filter.press(mouse) { return }
        if mouse.position.y == 0, let entity = entityTab(at: mouse.position.x) { return show(entity) }
        if let column = view.columnTitle(at: mouse.position) {
            view.focusedColumn = column
            let key = view.columns[column].id
            if entity.attribute(atKeyPath: key)?.isSortable == true { change { $0.replaceSortKeys(with: key) } }
            return
        }
        switch view.position(at: mouse.position) {
        case .header(let section): view.setFolded(!view.isFolded(section: section), section: section)
        case .row(let path):
            view.setCursor(.row(path))
            rememberCursor()
            if isDouble { openDetail() }
        case nil: break
        }
    }

    /// Moves to the record with the given number, counted from 1 and limited to the last one.
    func goToRecord(_ number: Int) {
        guard records.objectCount > 0 else { return browser.say("the list is empty") }
        view.moveToRow(records.path(atIndex: max(1, min(number, records.objectCount)) - 1))
        rememberCursor()
    }

    // MARK: Sections by letter

    var sectionIndexTitles: [String] { records.controller.sectionIndexTitles }

    /// The letters that can be typed, of sections with a value.
    var sectionLetters: String { sectionIndexTitles.filter { !$0.isEmpty }.joined(separator: " ") }

    /// Moves to the first section with a letter, or from one of them to the next.
    func jump(toIndexLetter letter: Character) {
        guard view.hasHeaders else { return browser.say("this list has no sections; gs chooses a section key") }
        let titles = sectionIndexTitles
        if let section = view.cursor?.section, let next = records.section(after: section, beginningWith: letter) {
            return view.moveToSection(next)
        }
        guard let index = titles.firstIndex(where: { $0.lowercased().hasPrefix(letter.lowercased()) }) else {
            let known = sentence("initials: \(sectionLetters)")
            return browser.say(sentence("no section begins with \(letter); \(known)"))
        }
        view.moveToSection(records.controller.section(forSectionIndexTitle: titles[index], at: index))
    }

    // MARK: Sorting and sections

    /// Lets the user pick a sort key. The focused column is selected initially.
    func askForSortKey(title: String, action: @escaping (inout ListSettings, String) -> Void) {
        let keys = entity.sortableKeyPaths
        let focus = focusedKey
        pick(from: keys, title: title, selected: keys.firstIndex(of: focus) ?? 0, action: action)
    }

    func askForSortKeyToRemove() {
        let keys = records.settings.sortKeys.map(\.keyPath)
        guard keys.count > 1 else { return browser.say("cannot remove the only sort key; S sorts by another one") }
        pick(from: keys, title: "Remove sort key", selected: keys.count - 1) { $0.removeSortKey($1) }
    }

    private func pick(
        from keys: [String], title: String, selected: Int, action: @escaping (inout ListSettings, String) -> Void
    ) {
        let items = keys.map { (text: PropertyTitle.title($0), detail: sortRemark(on: $0)) }
        browser.layers.push(
            Picker(title: title, items: items, aliases: keys, selected: selected) { [unowned self] index in
                change { action(&$0, keys[index]) }
            })
    }

    /// The role of a key in the current order: `↓ sections`, `↑ key 2`.
    private func sortRemark(on keyPath: String) -> String {
        let settings = records.settings
        if keyPath == settings.sectionSortKey { return settings.sectionsAscend ? tr("↑ sections") : tr("↓ sections") }
        guard let place = settings.sortKeys.firstIndex(where: { $0.keyPath == keyPath }) else { return "" }
        return sentence("\(settings.sortKeys[place].isAscending ? "↑" : "↓") key \(place + 1)")
    }

    /// Lets the user pick the section key. For dates, a second picker asks for the period. Texts of the entity itself
    /// are also offered by first letter.
    func askForSectionKey() {
        let choices = entity.sortableKeyPaths.flatMap { key in
            entity.attributesByName[key]?.attributeType == .stringAttributeType
                ? [SectionChoice(keyPath: key), SectionChoice(keyPath: key, form: ":letter")]
                : [SectionChoice(keyPath: key)]
        }
        let current = records.settings.sectionKey
        let items =
            [(text: tr("(no sections)"), detail: current == nil ? tr("now") : "")]
            + choices.map { (text: $0.title, detail: sectionRemark(on: $0)) }
        let selected =
            choices.firstIndex { $0.keyPath == current && isChosen($0) }
            ?? choices.firstIndex {
                $0.keyPath == current
            }
        browser.layers.push(
            Picker(
                title: "Sections by", items: items, aliases: [""] + choices.map(\.text),
                selected: selected.map { $0 + 1 } ?? 0
            ) { [unowned self] index in
                guard index > 0 else { return change { $0.setSectionKey(nil) } }
                let choice = choices[index - 1]
                if entity.attribute(atKeyPath: choice.keyPath)?.attributeType == .dateAttributeType {
                    return askForPeriod(of: choice.keyPath)
                }
                change { $0.setSectionKey(choice.keyPath, form: choice.form) }
            })
    }

    /// Lets the user pick the part of a date that forms the sections.
    private func askForPeriod(of key: String) {
        let forms = SectionChoice.kinds(of: entity.attribute(atKeyPath: key)).map { ":" + $0 }
        let choices = forms.map { SectionChoice(keyPath: key, form: $0) } + [SectionChoice(keyPath: key)]
        let names = ["year", "month", "week", "day", "each value"]
        let items = zip(names, choices).map { (text: tr($0), detail: sectionRemark(on: $1)) }
        browser.layers.push(
            Picker(
                title: PropertyTitle.title(key), items: items, aliases: choices.map(\.text),
                selected: choices.firstIndex(where: isChosen) ?? 1
            ) { [unowned self] index in change { $0.setSectionKey(key, form: choices[index].form) } })
    }

    /// True if the list has these sections, in any direction.
    private func isChosen(_ choice: SectionChoice) -> Bool {
        records.settings.sectionKey == choice.keyPath && records.settings.sectionForm == choice.form
    }

    private func sectionRemark(on choice: SectionChoice) -> String {
        guard isChosen(choice) else { return "" }
        let direction = records.settings.sectionsAscend ? tr("↑ sections") : tr("↓ sections")
        return sentence("\(direction); Enter flips")
    }

    /// Lets the user pick an entity. The picker shows record counts.
    func askForEntity() {
        let source = EntityPickerSource(session: session)
        browser.layers.push(
            Picker(title: "Entity", source: source, selected: source.place(of: entity)) { [unowned self, source] in
                show(source.entity(at: $0))
            })
    }

    func showEntity(number: Int) {
        guard entities.indices.contains(number - 1) else {
            return browser.say(entitiesThereAre, role: .warning)
        }
        show(entities[number - 1])
    }

    /// Message for a number without an entity.
    var entitiesThereAre: String { sentence("the store has only \(CountedNoun.text(entities.count, "entity"))") }

    // MARK: Records

    func openDetail() {
        if case .header(let section) = view.cursor {
            view.setFolded(!view.isFolded(section: section), section: section)
        } else if browser.isPicking {
            withChosen { [unowned self] in browser.pick($0) }
        } else if let cursorObject {
            browser.layers.push(DetailScreen(browser: browser, session: session, object: cursorObject))
        }
    }

    /// Opens the form of the record under the cursor, with the focused column's field selected.
    func editRecord() {
        guard let cursorObject else { return browser.say("no record under the cursor") }
        RecordForm.open(
            in: browser, session: session, object: cursorObject, entity: cursorObject.entity, focus: focusedKey)
    }

    /// Opens the form for a new record, in the section of the cursor.
    func addRecord() {
        var preset: [String: Any] = [:]
        if let key = records.settings.sectionSortKey, entity.attributesByName[key] != nil, let cursorObject {
            preset[key] = cursorObject.value(forKey: key)
        }
        RecordForm.open(in: browser, session: session, object: nil, entity: entity, preset: preset) { [unowned self] in
            moveCursor(to: $0)
        }
    }

    func deleteRecord() {
        guard !marks.isEmpty || cursorObject != nil else { return browser.say("no record under the cursor") }
        withChosen { [unowned self] in browser.askToDelete($0) }
    }
}
