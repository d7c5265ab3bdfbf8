#!/usr/bin/env python3
"""Checks stores with plain sqlite3, independently of the framework.

usage: Scripts/check-store.py [--counts] STORE...

Checks SQLite's integrity, the single row of metadata and its property list, unique entity numbers, the entities of rows,
key counters, the destinations of to-one relationships and join tables, positive versions, transactions of history changes,
and the files of external values.
Prints a line per error and exits with 1 if there is one. --counts also prints the number of rows of each entity.
"""
import os
import plistlib
import re
import sqlite3
import sys
import uuid


class Store:
    def __init__(self, path):
        self.path = path
        self.wrong = []
        # Read-only, because opening for writing would recover a log.
        self.db = sqlite3.connect(f"file:{path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode=ro", uri=True)
        self.db.text_factory = lambda data: data.decode("utf-8", "surrogateescape")

    def rows(self, sql, *arguments):
        return self.db.execute(sql, arguments).fetchall()

    def say(self, text):
        self.wrong.append(text)

    def tables(self):
        return {name for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def columns(self, table):
        return [row[1] for row in self.rows(f'PRAGMA table_info("{table}")')]

    def check(self):
        for (text,) in self.rows("PRAGMA integrity_check(20)"):
            if text != "ok":
                self.say(f"SQLite: {text}")
        tables = self.tables()
        for needed in ("Z_METADATA", "Z_PRIMARYKEY"):
            if needed not in tables:
                self.say(f"the table {needed} is missing")
                return
        self.check_metadata()
        self.entities = self.check_entities(tables)
        for table in sorted(tables):
            if re.fullmatch(r"Z_\d+.*", table):
                self.check_pairs(table)
        self.check_rows(tables)
        self.check_history(tables)

    def check_metadata(self):
        found = self.rows("SELECT Z_UUID, Z_PLIST FROM Z_METADATA")
        if len(found) != 1:
            return self.say(f"{len(found)} rows of metadata instead of 1")
        identifier, data = found[0]
        try:
            uuid.UUID(identifier)
        except (ValueError, TypeError, AttributeError):
            self.say(f"the store's UUID is {identifier!r}")
        try:
            metadata = plistlib.loads(data)
        except Exception as error:  # plistlib raises many types
            return self.say(f"the metadata cannot be read: {error}")
        if metadata.get("NSStoreType", "SQLite") != "SQLite":
            self.say(f"the store type in the metadata is {metadata['NSStoreType']}")

    def check_entities(self, tables):
        """Returns the entities: number → (name, root's table, root's number, greatest key)."""
        listed = self.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY")
        numbers = [row[0] for row in listed]
        for number in {n for n in numbers if numbers.count(n) > 1}:
            self.say(f"two entities have the number {number}")
        by_number = {row[0]: row for row in listed}
        entities = {}
        for number, name, parent, greatest in listed:
            if number >= 16000:  # entities of the history
                continue
            root, seen = number, {number}
            while by_number.get(root, (0, "", 0))[2]:
                root = by_number[root][2]
                if root in seen:
                    self.say(f"the entity {name} is its own ancestor")
                    break
                seen.add(root)
            if root not in by_number:
                self.say(f"the parent of the entity {name} is missing")
                continue
            table = "Z" + by_number[root][1].upper()
            if table not in tables:
                self.say(f"the table {table} of the entity {name} is missing")
                continue
            entities[number] = (name, table, root, by_number[root][3])
        return entities

    def check_rows(self, tables):
        for table in sorted({entity[1] for entity in self.entities.values()}):
            members = [number for number, entity in self.entities.items() if entity[1] == table]
            marks = ",".join("?" * len(members))
            for key, number in self.rows(
                f'SELECT Z_PK, Z_ENT FROM "{table}" WHERE Z_ENT NOT IN ({marks}) OR Z_ENT IS NULL LIMIT 5', *members):
                self.say(f"{table}: row {key} has the wrong entity {number}")
            for (key,) in self.rows(f'SELECT Z_PK FROM "{table}" WHERE Z_OPT < 1 OR Z_OPT IS NULL LIMIT 5'):
                self.say(f"{table}: row {key} has no version")
            greatest = self.rows(f'SELECT MAX(Z_PK) FROM "{table}"')[0][0] or 0
            counter = next(entity[3] for entity in self.entities.values() if entity[1] == table)
            if greatest > (counter or 0):
                self.say(f"{table}: row {greatest} is greater than the key counter {counter}")
            self.check_references(table)
            self.check_external(table)

    def check_references(self, table):
        """Checks to-one relationships with a column for the destination's entity, which exists if there may be several."""
        columns = self.columns(table)
        for column in columns:
            match = re.fullmatch(r"Z\d*_(.+)", column)
            if not match or "Z" + match.group(1) not in columns or column in ("Z_PK", "Z_ENT", "Z_OPT"):
                continue
            target = "Z" + match.group(1)
            for (number,) in self.rows(f'SELECT DISTINCT "{column}" FROM "{table}" WHERE "{target}" IS NOT NULL'):
                if number not in self.entities:
                    self.say(f"{table}.{target} refers to the unknown entity {number}")
                    continue
                other = self.entities[number][1]
                for key, lost in self.rows(
                    f'SELECT Z_PK, "{target}" FROM "{table}" WHERE "{column}" = ? AND "{target}" NOT IN '
                    f'(SELECT Z_PK FROM "{other}") LIMIT 5', number):
                    self.say(f"{table}: row {key}: {target} refers to the missing row {lost} of {other}")

    def check_pairs(self, table):
        for column in self.columns(table):
            match = re.match(r"Z_(\d+)", column)
            if not match or column.startswith("Z_FOK") or int(match.group(1)) not in self.entities:
                continue
            other = self.entities[int(match.group(1))][1]
            for (lost,) in self.rows(
                f'SELECT "{column}" FROM "{table}" WHERE "{column}" NOT IN (SELECT Z_PK FROM "{other}") LIMIT 5'):
                self.say(f"{table}: {column} refers to the missing row {lost} of {other}")

    def check_history(self, tables):
        if not {"ACHANGE", "ATRANSACTION"} <= tables:
            return
        for (key,) in self.rows(
            "SELECT Z_PK FROM ACHANGE WHERE ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION) LIMIT 5"):
            self.say(f"the transaction of history change {key} is missing")
        for (key,) in self.rows("SELECT Z_PK FROM ACHANGE WHERE ZCHANGETYPE NOT IN (0, 1, 2) LIMIT 5"):
            self.say(f"history change {key} has an unknown type")

    def check_external(self, table):
        folder = os.path.join(
            os.path.dirname(self.path) or ".",
            "." + os.path.splitext(os.path.basename(self.path))[0] + "_SUPPORT", "_EXTERNAL_DATA")
        for column in self.columns(table):
            if column in ("Z_PK", "Z_ENT", "Z_OPT"):
                continue
            for key, value in self.rows(
                f'SELECT Z_PK, "{column}" FROM "{table}" WHERE typeof("{column}") = \'blob\' AND length("{column}") = 38 '
                f'AND substr("{column}", 1, 1) = x\'02\''):
                name = value[1:37].decode("ascii", "replace")
                try:
                    uuid.UUID(name)
                except ValueError:
                    continue
                if not os.path.isfile(os.path.join(folder, name)):
                    self.say(f"{table}: the file {name} of row {key} is missing")

    def counts(self):
        return {
            entity[0]: self.rows(f'SELECT COUNT(*) FROM "{entity[1]}" WHERE Z_ENT = ?', number)[0][0]
            for number, entity in self.entities.items()}


def main(arguments):
    shows_counts = "--counts" in arguments
    paths = [argument for argument in arguments if argument != "--counts"]
    if not paths or any(path.startswith("--") for path in paths):
        print(__doc__, file=sys.stderr)
        return 2
    status = 0
    for path in paths:
        store = Store(path)
        try:
            store.check()
        except sqlite3.Error as error:
            store.say(f"SQLite: {error}")
        for text in store.wrong:
            print(f"{path}: {text}")
            status = 1
        if shows_counts and not store.wrong:
            for name, count in sorted(store.counts().items()):
                print(f"{path}: {name} {count}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
