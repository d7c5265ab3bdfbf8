#!/usr/bin/env python3
"""Passes random records through `roster import` and `roster export` in CSV, TSV and JSON, and compares with Python's parsers.

usage: Scripts/fuzz-records.py ROSTER SEED ROUNDS [RECORDS]

In each round, records that Python wrote as JSON or CSV are imported, exported in all formats, read by Python, imported again
and exported again. Prints the number of compared records; exits with 1 and the seed at the first difference.
"""
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile

MODEL = """<?xml version="1.0" encoding="UTF-8"?>
<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
<entity name="Row"><attribute name="key" optional="YES" attributeType="Integer 64" usesScalarValueType="NO"/>
<attribute name="a" optional="YES" attributeType="String"/><attribute name="b" optional="YES" attributeType="String"/>
<attribute name="c" optional="YES" attributeType="String"/></entity>
<entity name="Single"><attribute name="a" optional="YES" attributeType="String"/></entity></model>
"""
PIECES = [
    "", "a", "B", " ", "\t", "\n", "\r", "\r\n", "\"", "\"\"", ",", ";", "\\", "\\N", "\\t", "\\n", "'", "\ufeff", "\u0301", "é", "e\u0301",
    "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1b[31m", "\x7f", "\u202e", "😀", "👩\u200d👧", "{}", "[", "null", "NULL", "-1", "=1+1", "#",
]


def text(rng):
    if rng.random() < 0.15:
        return None
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(6)))


class Fuzz:
    def __init__(self, roster, folder):
        self.roster, self.folder = roster, folder
        model = os.path.join(folder, "M.xcdatamodel")
        os.makedirs(model, exist_ok=True)
        with open(os.path.join(model, "contents"), "w") as file:
            file.write(MODEL)
        self.model, self.number = model, 0

    def run(self, *arguments):
        done = subprocess.run([self.roster, *arguments], capture_output=True)
        if done.returncode != 0:
            raise SystemExit(f"{arguments}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def store(self):
        self.number += 1
        path = os.path.join(self.folder, f"{self.number}.sqlite")
        self.run("create", path, "--model", self.model)
        return path

    def imported(self, data, kind, entity="Row"):
        """Imports the data into a new store and returns the store's path."""
        path = os.path.join(self.folder, f"in.{kind}")
        with open(path, "wb") as file:
            file.write(data)
        store = self.store()
        self.run("import", store, entity, path)
        return store

    def exported(self, store, kind, entity="Row"):
        columns = "key,a,b,c" if entity == "Row" else "a"
        sort = ["--sort", "key"] if entity == "Row" else []
        return self.run("export", store, entity, "--format", kind, "--columns", columns, *sort)


def read_json(data):
    return [json.loads(line) for line in data.decode().split("\n") if line]


def read_tsv(data):
    def field(value):
        if value == "\\N":
            return None
        out, place = [], 0
        while place < len(value):
            if value[place] == "\\":
                out.append({"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}[value[place + 1]])
                place += 2
            else:
                out.append(value[place])
                place += 1
        return "".join(out)

    lines = data.decode().split("\n")[:-1]
    return [[field(value) for value in line.split("\t")] for line in lines][1:]


def read_csv(data):
    return list(csv.reader(io.StringIO(data.decode(), newline="")))[1:]


def flat(records):
    return [[str(r["key"]), r.get("a"), r.get("b"), r.get("c")] for r in records]


def write(records, rng):
    """Returns the records in a random format and style of Python, with the format and the expected records."""
    if rng.random() < 0.5:
        values = [{k: v for k, v in r.items() if v is not None or rng.random() < 0.5} for r in records]
        ascii_only, indent = rng.random() < 0.5, rng.choice([None, 1])
        if rng.random() < 0.5:
            return json.dumps(values, ensure_ascii=ascii_only, indent=indent).encode(), "json", records
        return "\n".join(json.dumps(v, ensure_ascii=ascii_only) for v in values).encode(), "json", records
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator=rng.choice(["\n", "\r\n"]))
    writer.writerow(["key", "a", "b", "c"])
    # Python's CSV writer cannot write NULL.
    records = [{k: "" if v is None else v for k, v in r.items()} for r in records]
    for r in records:
        writer.writerow([r["key"], r["a"], r["b"], r["c"]])
    return out.getvalue().encode(), "csv", records


def main(arguments):
    if len(arguments) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    seed, rounds = int(arguments[1]), int(arguments[2])
    size = int(arguments[3]) if len(arguments) == 4 else 200
    compared = 0
    for turn in range(rounds):
        rng = random.Random(seed * 1_000_003 + turn)

        def same(found, wanted, what):
            nonlocal compared
            if found != wanted:
                for one, other in zip(found, wanted):
                    if one != other:
                        raise SystemExit(f"seed {seed} round {turn}: {what}: {one!r} instead of {other!r}")
                raise SystemExit(f"seed {seed} round {turn}: {what}: {len(found)} records instead of {len(wanted)}")
            compared += len(wanted)

        with tempfile.TemporaryDirectory() as folder:
            fuzz = Fuzz(arguments[0], folder)
            records = [{"key": n, "a": text(rng), "b": text(rng), "c": text(rng)} for n in range(size)]
            data, kind, records = write(records, rng)
            store = fuzz.imported(data, kind)
            wanted = flat(records)
            same(flat(read_json(fuzz.exported(store, "json"))), wanted, f"{kind} by Python, json read by Python")
            same(read_tsv(fuzz.exported(store, "tsv")), wanted, "tsv read by Python")
            same(read_csv(fuzz.exported(store, "csv")), [[v or "" for v in r] for r in wanted], "csv read by Python")
            for kind in ("csv", "tsv", "json"):
                again = fuzz.imported(fuzz.exported(store, kind), kind)
                same(flat(read_json(fuzz.exported(again, "json"))), wanted, f"{kind} there and back")
            # Records with one property: their lines may be empty.
            single = [{"a": text(rng)} for _ in range(size)]
            store = fuzz.imported("\n".join(map(json.dumps, single)).encode(), "json", "Single")
            order = sorted(repr(r["a"]) for r in single)
            for kind in ("csv", "tsv", "json"):
                again = fuzz.imported(fuzz.exported(store, kind, "Single"), kind, "Single")
                found = read_json(fuzz.exported(again, "json", "Single"))
                same(sorted(repr(r.get("a")) for r in found), order, f"{kind} of one property there and back")
    print(f"{compared} records compared, no differences (seed {seed})")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
