import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// A form for an existing or a new record.
///
/// Fields are validated with the model's rules while the user types. The record is changed when the form is accepted,
/// as one undo step.
final class RecordForm {
    private unowned let browser: Browser
    private let session: StoreSession
    /// The record to edit. For a new one, a record without a context that holds the defaults.
    private let object: NSManagedObject
    private let isNew: Bool
    /// The values and field texts when the form was opened. Later changes of others are neither undone nor mistaken for
    /// the user's.
    private let seen: SeenValues
    private var textsAtFirst: [String: String?] = [:]
    private var destinationsAtFirst: [String: [NSManagedObject]] = [:]
    private let onDone: (NSManagedObject) -> Void
    /// The records picked for relationships, by the relationship's name.
    private var picked: [String: [NSManagedObject]] = [:]

    /// Opens the form.
    ///
    /// - Parameters:
    ///   - object: the record to edit; `nil` adds a record of `entity`.
    ///   - focus: the property with the initial focus.
    ///   - preset: values for a new record.
    static func open(
        in browser: Browser, session: StoreSession, object: NSManagedObject?, entity: NSEntityDescription,
        focus: String? = nil, preset: [String: Any] = [:], onDone: @escaping (NSManagedObject) -> Void = { _ in }
    ) {
        let target = object ?? NSManagedObject(entity: entity, insertInto: nil)
        if object == nil { for (key, value) in preset { target.setValue(value, forKey: key) } }
        let owner = RecordForm(
            browser: browser, session: session, object: target, isNew: object == nil, onDone: onDone)
        let title =
            object.map { sentence("Edit \(entity.name ?? "") “\(RecordName.text($0))”") }
            ?? sentence("New \(entity.name ?? "record")")
        let fields = owner.fields()
        owner.noteFirst(fields)
        let form = Form(title: title, fields: fields, focus: focus)
        form.validate = { owner.problem(with: $0) }
        form.onAccept = { owner.accept($0, saving: $1) }
        form.onPick = { owner.pick(for: $1, in: $0) }
        form.onStep = { owner.stepped($0, by: $1) }
        form.onCalendar = { owner.pickDay(for: $1, in: $0) }
        form.onEditOutside = { owner.editOutside($1, in: $0) }
        form.onDiscard = { owner.askToDiscard($0) }
        browser.layers.push(form)
    }

    private init(
        browser: Browser, session: StoreSession, object: NSManagedObject, isNew: Bool,
        onDone: @escaping (NSManagedObject) -> Void
    ) {
        self.browser = browser
        self.session = session
        self.object = object
        self.isNew = isNew
        seen = SeenValues(of: object)
        self.onDone = onDone
    }

    private func noteFirst(_ fields: [FormField]) {
        for field in fields {
            textsAtFirst[field.id] = field.value
            guard !isNew, object.entity.relationshipsByName[field.id] != nil else { continue }
            destinationsAtFirst[field.id] = ValueDisplay.destinations(object.value(forKey: field.id))
        }
    }

    // MARK: Fields

    private func fields() -> [FormField] {
        let label = EntityDisplay.label(of: object.entity)
        let properties = object.entity.properties.filter { !$0.isTransient }
        let attributes = properties.compactMap { $0 as? NSAttributeDescription }
        let ordered = attributes.filter { $0 === label } + attributes.filter { $0 !== label }
        return ordered.map(field) + properties.compactMap { ($0 as? NSRelationshipDescription).map(field) }
    }

    private func field(_ attribute: NSAttributeDescription) -> FormField {
        FormField(
            id: attribute.name, label: PropertyTitle.title(attribute.name), kind: FieldText.kind(of: attribute),
            value: FieldText.text(object.value(forKey: attribute.name), of: attribute),
            isOptional: attribute.isOptional,
            hint: FieldText.hint(for: attribute))
    }

    private func field(_ relationship: NSRelationshipDescription) -> FormField {
        let current = isNew ? [] : ValueDisplay.destinations(object.value(forKey: relationship.name))
        let entity = relationship.destinationEntity?.name ?? "record"
        return FormField(
            id: relationship.name, label: PropertyTitle.title(relationship.name), kind: .reference,
            value: Self.text(current, of: relationship), isOptional: relationship.isOptional,
            hint: relationship.isToMany
                ? sentence("Space adds or removes \(CountedNoun.plural(entity))")
                : sentence("Space chooses a \(entity), Backspace clears"))
    }

    private static func text(_ objects: [NSManagedObject], of relationship: NSRelationshipDescription) -> String? {
        guard !objects.isEmpty else { return nil }
        let names = objects.prefix(4).map { RecordName.text($0) }.joined(separator: ", ")
        return relationship.isToMany ? "\(objects.count): \(names)\(objects.count > 4 ? ", …" : "")" : names
    }

    // MARK: Checking

    private func problem(with field: FormField) -> String? {
        guard field.kind != .readOnly else { return nil }
        guard let attribute = object.entity.attributesByName[field.id] else {
            return field.value == nil && !field.isOptional ? tr("must be chosen") : nil
        }
        return FieldCheck.problem(field.value, of: attribute, in: object)
    }

    // MARK: Accepting

    private func accept(_ fields: [FormField], saving: Bool) -> [String: String] {
        if !isNew, seen.isGone {
            letGo(fields)
            return [:]
        }
        guard isNew || fields.contains(where: isTyped) else {
            onDone(object)
            browser.say("nothing was changed")
            if saving { browser.save() }
            return [:]
        }
        let label = EntityDisplay.label(of: object.entity)?.name
        let name = RecordName.short((fields.first { $0.id == label }?.value ?? nil) ?? "record")
        var target = object
        browser.edit(isNew ? sentence("add \(name)") : sentence("edit \(name)"), seen: isNew ? [] : [seen]) { context in
            if isNew { target = NSManagedObject(entity: object.entity, insertInto: context) }
            write(fields, to: target)
        }
        onDone(target)
        if isNew {
            browser.say(sentence("added \(name), not saved yet"))
        } else {
            browser.sayChanged(sentence("changed \(name), not saved yet"), object)
        }
        if saving { browser.save() }
        return [:]
    }

    /// Closes the form of a deleted record and asks whether to recreate it with the edits.
    private func letGo(_ fields: [FormField]) {
        var mine: [String: Any] = [:]
        for field in fields where isTyped(field) {
            if let attribute = object.entity.attributesByName[field.id] {
                // The text was checked when it was entered, so it parses.
                mine[field.id] = (try? FieldText.value(field.value, of: attribute)) ?? NSNull()
            } else if let relationship = object.entity.relationshipsByName[field.id] {
                let chosen = chosen(relationship, value: field.value)
                mine[field.id] = relationship.isOrdered ? NSOrderedSet(array: chosen) : Set(chosen) as NSSet
            }
        }
        guard !mine.isEmpty else { return browser.say("the record was deleted", role: .warning) }
        browser.ask(aboutLost: [LostEdit(object: object, mine: mine, others: seen.values)])
    }

    /// True if the user changed the field from its initial value.
    private func isTyped(_ field: FormField) -> Bool {
        guard field.kind != .readOnly else { return false }
        guard let relationship = object.entity.relationshipsByName[field.id] else {
            return textsAtFirst[field.id] != .some(field.value)
        }
        return chosen(relationship, value: field.value) != destinationsAtFirst[field.id] ?? []
    }

    /// The records that the field holds for a relationship.
    private func chosen(_ relationship: NSRelationshipDescription, value: String?) -> [NSManagedObject] {
        value == nil ? [] : picked[relationship.name] ?? destinationsAtFirst[relationship.name] ?? []
    }

    /// Writes only the values that the user changed: changes of others stay, and an unchanged record does not become
    /// dirty. A new record gets all values.
    private func write(_ fields: [FormField], to target: NSManagedObject) {
        for field in fields where isNew || isTyped(field) {
            if let attribute = object.entity.attributesByName[field.id] {
                let old = FieldText.text(target.value(forKey: field.id), of: attribute)
                // Already checked: a text that does not parse is never accepted.
                guard field.kind != .readOnly, old != field.value,
                    let value = try? FieldText.value(field.value, of: attribute)
                else {
                    if old != field.value, field.value == nil { target.setValue(nil, forKey: field.id) }
                    continue
                }
                target.setValue(value, forKey: field.id)
            } else if let relationship = object.entity.relationshipsByName[field.id] {
                write(relationship, value: field.value, to: target)
            }
        }
    }

    private func write(_ relationship: NSRelationshipDescription, value: String?, to target: NSManagedObject) {
        let old = ValueDisplay.destinations(target.value(forKey: relationship.name))
        var new = chosen(relationship, value: value)
        let first = destinationsAtFirst[relationship.name] ?? []
        if relationship.isToMany, old != first {
            // If others changed the relationship while the user was choosing, only the user's additions and removals
            // are applied.
            let (came, went) = (new.filter { !first.contains($0) }, first.filter { !new.contains($0) })
            new = old.filter { !went.contains($0) } + came.filter { !old.contains($0) }
        }
        guard old != new else { return }
        if !relationship.isToMany {
            target.setValue(new.first, forKey: relationship.name)
        } else if relationship.isOrdered {
            target.setValue(NSOrderedSet(array: new), forKey: relationship.name)
        } else {
            target.setValue(Set(new) as NSSet, forKey: relationship.name)
        }
    }

    // MARK: Asking

    private func pick(for field: FormField, in form: Form) {
        if let attribute = object.entity.attributesByName[field.id] {
            return ChoicePicker.open(in: browser, attribute: attribute, current: field.value) {
                form.setValue($0, of: field.id)
            }
        }
        guard let relationship = object.entity.relationshipsByName[field.id],
            let entity = relationship.destinationEntity
        else { return }
        let current =
            field.value == nil
            ? [] : picked[field.id] ?? (isNew ? [] : ValueDisplay.destinations(object.value(forKey: field.id)))
        let source = RecordPickerSource(
            entity: entity, session: session, chosen: Set(current),
            onDisplay: { [unowned browser] in browser.needsDisplay = true })
        source.offersNew = !entity.isAbstract
        let verb = relationship.isToMany ? tr("add or remove") : tr("choose")
        browser.layers.push(
            Picker(title: sentence("\(field.label): \(verb)"), source: source, selected: source.firstChosen) {
                [self] index in
                guard source.isNew(index) else {
                    return take(source.object(at: index), into: current, of: relationship, form)
                }
                addNew(entity, named: source.text) { [self] in take($0, into: current, of: relationship, form) }
            })
    }

    /// Adds a record to those of a relationship, or removes it if it is already there.
    private func take(
        _ other: NSManagedObject, into current: [NSManagedObject], of relationship: NSRelationshipDescription,
        _ form: Form
    ) {
        var objects = current
        if !relationship.isToMany {
            objects = [other]
        } else if let place = objects.firstIndex(of: other) {
            objects.remove(at: place)
        } else {
            objects.append(other)
        }
        picked[relationship.name] = objects
        form.setValue(Self.text(objects, of: relationship), of: relationship.name)
    }

    /// Opens a form for a new related record, with the typed text as its name.
    private func addNew(
        _ entity: NSEntityDescription, named name: String, then next: @escaping (NSManagedObject) -> Void
    ) {
        var preset: [String: Any] = [:]
        if let label = EntityDisplay.label(of: entity), !name.isEmpty { preset[label.name] = name }
        RecordForm.open(in: browser, session: session, object: nil, entity: entity, preset: preset, onDone: next)
    }

    private func stepped(_ field: FormField, by step: Int) -> String? {
        object.entity.attributesByName[field.id].flatMap { FieldStep.text(field.value, of: $0, by: step) }
    }

    private func pickDay(for field: FormField, in form: Form) {
        guard let attribute = object.entity.attributesByName[field.id] else { return }
        let date = (try? FieldText.value(field.value, of: attribute)) as? Date
        browser.layers.push(
            CalendarPicker(
                date ?? DateDisplay.utc.startOfDay(for: Date()), commands: browser.tables[CalendarPicker.self]
            ) { day in
                form.setValue(FieldText.text(day, of: attribute), of: field.id)
            })
    }

    private func editOutside(_ field: FormField, in form: Form) {
        guard let text = browser.editOutside(field.value ?? "", named: field.id) else { return }
        form.setValue(text, of: field.id)
    }

    private func askToDiscard(_ close: @escaping () -> Void) {
        browser.layers.push(
            Dialog(
                title: "Leave the form?", lines: [TextPane.Line("The values that you typed will be lost.")],
                choices: [Dialog.Choice("y", "leave", action: close), Dialog.Choice("n", "continue editing")]))
    }
}
