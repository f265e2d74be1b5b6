#!/usr/bin/env python3
"""Reads Rejoin's messages. Written from the article "Wire format" alone.

    read.py FOLDER              compares each .bin with the .json beside it
    read.py FILE                prints what the file holds, as such a .json
    read.py --self-test FOLDER  damages each .bin, and prints each wrong answer
"""

import collections
import itertools
import json
import pathlib
import sys

MASK = (1 << 64) - 1
CHAIN_START = 1704067200000
MESSAGES = {
    "d": "delta", "p": "stored replica",
    "v": "vector clock", "c": "replica clock", "t": "restore token",
    "q": "request", "a": "answer", "o": "object",
}
KINDS = ["register", "counter", "set", "ledger", "existence"]
REGISTER, COUNTER, SET, LEDGER, EXISTENCE = range(5)


class Refused(Exception):
    """The bytes are not a message."""


def check(condition, what):
    if not condition:
        raise Refused(what)


def checksum(data):
    state = len(data) * 0x9E3779B97F4A7C15 & MASK
    for i in range(0, len(data), 8):
        word = int.from_bytes(data[i:i + 8], "little")
        mixed = (state ^ word) * 0xBF58476D1CE4E5B9 & MASK
        state = mixed ^ mixed >> 29
    return ((state ^ state >> 32) * 0xD6E8FEB86659FD93 & MASK) >> 32


def unzigzag(number):
    return number // 2 if number % 2 == 0 else -(number + 1) // 2


def ascends(before, item):
    return not before or next(reversed(before)) < item


def isWithin(clock, other):
    return all(n <= other.get(device, 0) for device, n in clock.items())


def listed(clock):
    return [{"device": device, "n": n} for device, n in sorted(clock.items())]


def order(value):
    """Where an element of a set stands."""
    (kind, content), = value.items()
    rank = ["null", "bool", "int", "double", "string", "bytes", "date",
            "reference"].index(kind)
    if kind == "double":
        bits = int(content, 16)
        content = MASK ^ bits if bits >> 63 else bits | 1 << 63
    return rank, content


class Reader:
    def __init__(self, data, kind):
        self.data, self.kind = data, kind
        self.offset, self.end = 3, len(data)
        self.ms = CHAIN_START

    def take(self, count):
        check(count <= self.end - self.offset, "too short")
        self.offset += count
        return self.data[self.offset - count:self.offset]

    def byte(self, below=256):
        byte = self.take(1)[0]
        check(byte < below, "flags")
        return byte

    def varint(self, bits=64):
        number, shift, byte = 0, 0, 0x80
        while byte & 0x80:
            check(shift < bits, "too many bits")
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            shift += 7
        check(byte or shift == 7, "not the shortest form")
        check(number >> bits == 0, "too many bits")
        return number

    def signed(self, bits=64):
        return unzigzag(self.varint(bits))

    def number(self, before=0):
        """A number that is written as what it exceeds another by, less 1."""
        number = before + 1 + self.varint()
        check(number <= MASK, "a number of 64 bits")
        return number

    def pair(self):
        byte = self.byte()
        pair = [half if half < 15 else 15 + self.varint()
                for half in (byte & 15, byte >> 4)]
        check(max(pair) < 1 << 31, "a pair")
        return pair

    def fixed(self):
        return int.from_bytes(self.take(8), "little")

    def digest(self):
        return f"{self.fixed():016x}"

    def text(self, count, limit=MASK):
        # Texts are compared as such, in the order of their bytes.
        check(count <= limit, "a name that is too long")
        return self.take(count).decode("utf-8")

    def device(self, before=()):
        device = self.take(16).hex()
        check(ascends(before, device), "devices in order")
        return device

    def recordID(self):
        value = self.value()
        check(value is None or "reference" in value, "a record ID")
        return value and value["reference"]

    def timestamp(self):
        head = self.varint()
        if head == 0:
            return 0
        self.ms += unzigzag(head - 1)
        logical = self.varint()
        check(0 <= self.ms < 1 << 48 and logical < 1 << 16, "a timestamp")
        check(self.ms or logical, "zero is one byte")
        return self.ms << 16 | logical

    def vectorClock(self):
        clock = {}
        for _ in range(self.varint()):
            device = self.device(clock)
            clock[device] = self.number()
        return clock

    def value(self):
        head = self.varint()
        form, content = head & 7, head >> 3
        if form == 0:
            check(content < 4, "a constant")
            return [None, {"null": True}, {"bool": False},
                    {"bool": True}][content]
        if form in (1, 6):
            return {"int" if form == 1 else "date": unzigzag(content)}
        if form == 2:
            check(content < 2, "an integer or a date")
            number = int.from_bytes(self.take(8), "little", signed=True)
            check(not -(1 << 60) <= number < 1 << 60, "is short")
            return {["int", "date"][content]: number}
        if form == 3:
            bits = self.fixed()
            check(content == 0 and bits != 1 << 63, "a fraction")
            check(bits & MASK >> 1 <= 0x7FF << 52 or bits == 0x7FF8 << 48,
                  "another NaN")
            return {"double": f"{bits:016x}"}
        if form == 4:
            return {"string": self.text(content)}
        if form == 5:
            return {"bytes": list(self.take(content))}
        return {"reference": [self.text(content), self.text(self.varint())]}

    def message(self):
        """The content of a delta or a stored replica."""
        self.last, self.found, self.hasFragments = -1, {}, False
        self.devices, self.starts, self.usedDevices = [], [], set()
        self.saves, self.times, self.usedSaves = [], [], set()
        self.earliest, self.range, self.servers, self.stable = {}, {}, {}, []
        self.prefixes = []
        self.intervals, self.records, self.fields = [], [], []
        self.own, self.mustReplace, self.digests = None, False, 0
        self.isStored = self.kind == "stored replica"
        devices, entities = self.pair()
        self.readDevices(devices)
        sizes = {"devices and saves": self.offset - 3}
        start, self.names, self.keys = self.offset, 0, 0
        self.readEntities(entities)
        sizes["entities and field names"] = self.names
        sizes["record names"] = self.keys
        sizes["fields"] = self.offset - start - self.names - self.keys
        sizes["sections"] = self.end - self.offset
        self.readSections()
        check(len(self.usedSaves) == len(self.saves), "an unused save")
        check(len(self.usedDevices) == len(self.devices), "an unused device")
        check(all(self.earliest.get(place, 0) == time
                  for place, time in enumerate(self.times)), "a later time")
        result = {"records": self.records,
                  "clock" if self.isStored else "intervals": self.intervals}
        for name in ("range", "prefixes"):
            if getattr(self, name):
                result[name] = getattr(self, name)
        if self.own:
            self.checkOwn()
            result["device"] = self.own
        elif self.isStored:
            check(len(self.records) == 1 and not self.intervals, "one record")
        return result, sizes

    def readDevices(self, count):
        heads = []
        for _ in range(count):
            self.devices.append(self.device(self.devices))
            heads.append(self.varint())
        for device, head in zip(self.devices, heads):
            number, flags, n = head >> 3, head & 7, 0
            check(flags & 1 and number or not flags, "an interval")
            self.starts.append(len(self.saves))
            for _ in range(number):
                n = self.number(n)
                self.saves.append((device, n))
                self.times.append(self.timestamp())
                self.usedDevices.add(device)
            if flags & 1:
                self.readInterval(number, flags)

    def readInterval(self, number, flags):
        after, later = (self.varint(), self.varint()) if flags & 2 else (0, 0)
        check(after < number and (after or later or not flags & 2), "an end")
        place = len(self.saves) - 1 - after
        device, n = self.saves[place]
        saves = self.number() if self.kind == "delta" else n
        check(saves <= n, "an interval from zero on")
        self.intervals.append({
            "device": device, **({} if self.isStored else {"from": n - saves}),
            "n": n, "time": self.stamp(place, later), "digest": self.digest(),
            **({"forked": True} if flags & 4 else {})})

    def stamp(self, place, extra):
        """A timestamp of a save."""
        time = self.times[place] + extra
        check(time <= MASK, "a timestamp")
        self.usedSaves.add(place)
        self.earliest[place] = min(time, self.earliest.get(place, time))
        return time

    def use(self, place):
        """A save of an item of a field."""
        device, n = self.saves[place]
        self.usedSaves.add(place)
        self.found[device] = max(n, self.found.get(device, 0))
        return {"device": device, "n": n}

    def reference(self, code, isFirst):
        self.last += 1 + (unzigzag(code) if isFirst else code)
        check(0 <= self.last < len(self.saves), "a save")
        return self.use(self.last)

    def clock(self):
        clock, index = {}, -1
        for _ in range(self.varint() + 1):
            index += 1 + self.varint()
            check(index < len(self.devices), "a device")
            clock[self.devices[index]] = self.number()
        self.usedDevices.update(clock)
        return clock

    def readEntities(self, count):
        for _ in range(count):
            start = self.offset
            length, fields = self.pair()
            entity = self.text(length, 255)
            check(not self.records or self.records[-1]["entity"] < entity,
                  "entities in order")
            table = self.readTable(fields)
            self.names += self.offset - start
            self.readRecords(entity, table)

    def readTable(self, count):
        table = []
        for _ in range(count):
            kind, length = self.pair()
            name, variant = self.text(length, 255), ""
            if kind & 8:
                kind, variant = kind - 8, self.text(self.varint(), 255)
                check(variant and kind != EXISTENCE, "a variant")
            check(kind < len(KINDS), "a newer kind")
            check(bool(name) == (kind != EXISTENCE)
                  and variant != KINDS[kind], "a name")
            check(ascends(table, (name, kind, variant)), "fields in order")
            table.append((name, kind, variant))
        return table

    def readRecords(self, entity, table):
        key, indices, seen, isLast = b"", None, set(), False
        while not isLast:
            start, before = self.offset, key
            shared, count = self.pair()
            check(shared <= min(len(before), 63), "shares too much")
            check(shared + count <= 1024, "a key of more than 1024 bytes")
            key = before[:shared] + self.take(count)
            # The first key follows none.
            if indices:
                check(before < key, "records in order")
                check(shared in (63, len(before))
                      or before[shared] != key[shared], "shares more")
            self.keys += self.offset - start
            head = self.varint()
            isLast = head & 1
            if head & 2:
                check(indices, "no record before")
            else:
                before = indices
                count, first = self.pair()
                check(count, "a field")
                indices = [first]
                for _ in range(1, count):
                    indices.append(indices[-1] + 1 + self.varint())
                check(indices[-1] < len(table), "a field")
                check(indices != before, "the same fields")
                seen.update(indices)
            fields = [table[index] for index in indices]
            check(head & 4 or head < 8, "no distance")
            content = (self.readOfOneSave(fields, head >> 3) if head & 4
                       else self.readInFull(fields))
            self.records.append({"entity": entity, "fields": content,
                                 "key": key.decode("utf-8")})
        check(len(seen) == len(table), "a field that no record has")

    def readOfOneSave(self, fields, distance):
        content = []
        self.reference(distance, isFirst=True)
        for field in fields:
            check(field[1] == REGISTER, "registers")
            self.found = {}
            write = {**self.use(self.last), "time": self.stamp(self.last, 0),
                     "value": self.value()}
            content.append(self.finish(field, [write]))
        return content

    def readInFull(self, fields):
        result, places, before = [], set(), None
        for field in fields:
            head, kind, lost = self.varint(), field[1], {}
            check(head or before, "no clock before")
            self.found = {} if head else before
            if kind == SET:
                content = self.readElements(head >> 2, True)
            elif kind == LEDGER:
                content = self.readLines(head >> 2, head & 2)
            else:
                content = [self.readItem(kind, place == 0)
                           for place in range(head >> 2)]
                check(kind != COUNTER or len(self.found) >= head >> 2, "twice")
            if kind == SET and head & 2 and self.isStored:
                lost["lost"] = self.readElements(self.varint(), False)
            if head & 1:
                for device, n in self.clock().items():
                    self.found[device] = n + self.found.get(device, 0)
                check(max(self.found.values()) <= MASK, "a number")
                check(head != 1 or self.found != before, "the clock before")
            before = self.found if head < 2 else None
            isOne = (kind == REGISTER and head == 4
                     and content[0]["time"] == self.times[self.last])
            places.add(self.last if isOne else None)
            result.append({**self.finish(field, content), **lost})
            if head & 2:
                self.readNews(kind, result[-1])
        check(len(places) > 1 or None in places, "a record of one save")
        return result

    def finish(self, field, content):
        name, kind, variant = field
        self.fields.append((kind, self.found))
        check(kind != LEDGER or all(
            line["device"] in self.found for line in content), "a line")
        return {"name": name, "kind": KINDS[kind], "content": content,
                "clock": listed(self.found),
                **({"variant": variant} if variant else {})}

    def readNews(self, kind, field):
        """What a fragment has after its clock."""
        check(COUNTER <= kind <= LEDGER, "a part")
        self.hasFragments = True
        field["whole"] = kind == SET or any(
            item.get("canceled") for item in field["content"])
        news = {entry["device"]: self.varint() for entry in field["clock"]}
        check(any(news.values()), "something new")
        check(field["whole"] or all(news.values()), "new saves of each device")
        check(isWithin(news, self.found), "more new saves than saves")
        field["basis"] = listed({
            device: self.found[device] - new for device, new in news.items()
            if new < self.found[device]})

    def readItem(self, kind, isFirst):
        """A write, an entry of a counter or a mark of existence."""
        code, bits = self.varint(), {REGISTER: 0, COUNTER: 1, EXISTENCE: 2}
        item = self.reference(code >> bits[kind], isFirst)
        if kind == COUNTER:
            item.update(increments=self.varint(), decrements=self.varint())
            if code & 1:
                item["canceled"] = self.readDecision(item["n"] - self.varint())
                check(abs(item["canceled"]["sum"]) < 1 << 64, "a canceled sum")
            return item
        item["time"] = self.stamp(self.last, self.varint())
        if kind == REGISTER:
            return {**item, "value": self.value()}
        seen = self.clock() if code & 3 else {}
        isOwn = seen.get(item["device"], 0) >= item["n"]
        kinds = ["alive", "deleted",
                 "purged" if isOwn else "purge announced", "deleted"]
        return {**item, "kind": kinds[code & 3], "final": code & 3 == 3,
                "seen": listed(seen) if code & 3 else None}

    def readElements(self, count, hasSaves):
        content, places = [], []
        for _ in range(count):
            element, saves, more = self.value(), [], hasSaves
            check(element, "an element")
            check(ascends(places, order(element)), "elements in order")
            places.append(order(element))
            while more:
                code = self.varint()
                saves.append(self.reference(code >> 1, not saves))
                more = code & 1
            content.append({"element": element, "marks": saves}
                           if hasSaves else element)
        return content

    def readLines(self, count, isFragment):
        lines, index = [], -1
        for _ in range(count):
            code = self.varint()
            index, isContinued = index + 1 + (code >> 1), code & 1
            check(index < len(self.devices), "a device")
            check(isFragment or not isContinued, "a line of a fragment")
            folded, decided = self.readSum(not isContinued), self.varint()
            canceled = self.readDecision(decided) if decided else None
            entries, place = [], self.starts[index]
            for _ in range(self.varint()):
                place += self.signed()
                check(0 <= place < len(self.saves), "a save")
                check(self.saves[place][0] == self.devices[index], "a device")
                entries.append({
                    "n": self.use(place)["n"],
                    "time": self.stamp(place, self.varint()),
                    "amount": self.signed(), "memo": self.value()})
            check(decided <= folded[0], "more decided than folded")
            check(folded[0] or not isContinued, "an index")
            check(entries or (decided if isContinued else folded[0]), "none")
            if canceled:
                checkSum(canceled["canceled"], canceled["sum"])
            lines.append({
                **({"continued": True} if isContinued else {}),
                **({"canceled": canceled} if canceled else {}),
                "device": self.devices[index], "folded": folded[0],
                "foldedSum": folded[1], "entries": entries})
        return lines

    def readDecision(self, decided):
        """How many of a device's changes up to a number are canceled."""
        check(decided > 0, "a decision on a change")
        turns = self.varint()
        canceled = decided - (self.varint() if turns else 0)
        check(canceled >= 0, "more canceled than decided")
        return {"decided": decided, "turns": turns, "canceled": canceled,
                "sum": self.signed(128) if canceled else 0}

    def readSum(self, hasSum=True):
        count = self.varint()
        total = self.signed(128) if count and hasSum else 0
        checkSum(count, total)
        return count, total

    def readSections(self):
        end, before = self.end, 0
        allowed = range(2, 8) if self.isStored else [1]
        while self.offset < end:
            number, length = self.pair()
            check(number in allowed and number > before, "a section")
            check(0 < length <= end - self.offset, "the length of a section")
            before, self.end = number, self.offset + length
            read = {1: self.readRange, 6: self.readHorizons}.get(number)
            read() if read else self.readOwn(number)
            check(self.offset == self.end, "more than the section")
            self.end = end

    def readRange(self):
        ends = {"after": self.recordID(), "through": self.recordID()}
        self.range = {name: end for name, end in ends.items() if end}
        check(self.range, "an end")
        after, through = ends.values()
        names = [[r["entity"], r["key"]] for r in self.records]
        for name in [*names, through] if through else names:
            check(not after or after < name, "before the range")
            check(not through or name <= through, "after the range")

    def readOwn(self, number):
        """What a stored replica keeps to itself."""
        check(number == 2 or self.own, "the device comes first")
        if number == 2:
            self.own = self.device()
            self.fixed()
            check(self.varint() >> 63 == 0, "a clock skew")
            flags = self.byte(below=16)
            self.mustReplace = flags & 1
            # The number before a rollback, a device to retire, a token, and
            # former devices.
            self.varint() if flags & 1 else None
            self.device() if flags & 2 else None
            (self.varint(), self.fixed()) if flags & 4 else None
            count = self.varint() if flags & 8 else 0
            check(0 < count <= 16 or not flags & 8, "former devices")
            for _ in range(count):
                self.device()
        elif number == 3:
            self.stable, passed = [self.vectorClock(), self.vectorClock()], []
            for _ in range(self.varint()):
                passed.append(self.device(passed))
            check(any(self.stable) or passed, "an empty section")
        elif number == 4:
            while self.offset < self.end:
                name = self.text(self.varint())
                check(ascends(self.servers, name), "servers in order")
                self.servers[name] = self.device()
        elif number == 7:
            check(self.own, "the device comes first")
            self.prefixes = readPrefixes(self, self.intervals)
            check(self.prefixes, "an empty section")
        else:
            self.digests, count = self.varint(), (self.end - self.offset) // 8
            check(0 < count <= 4096, "digests")
            self.take(8 * count)
            self.digests += count

    def readHorizons(self):
        place = -1
        while self.offset < self.end:
            place += 1 + self.varint()
            check(place < len(self.fields), "a field")
            kind, clock = self.fields[place]
            horizon = self.vectorClock()
            check(COUNTER <= kind <= LEDGER, "a kind with a horizon")
            check(isWithin(horizon, clock) and horizon != clock, "a horizon")

    def checkOwn(self):
        """What of a stored replica must fit its clock."""
        check(not self.hasFragments, "no fragment")
        held = {entry["device"]: entry["n"] for entry in self.intervals}
        check(all(isWithin(clock, held) for clock in self.stable), "is held")
        forked = {i["device"] for i in self.intervals if i.get("forked")}
        own = {self.own, *self.servers.values()}
        if not self.mustReplace and not forked & own:
            check(len(own) == 1 + len(self.servers), "distinct devices")
            check(self.digests == held.get(self.own, 0), "own digests")
            check(not any(clock[d] > held.get(d, 0) for _, clock in self.fields
                          for d in own & {*clock}), "a later own save")


def readDevicesOfVersion(reader, flagsBelow):
    clock, cut = {}, {}
    reader.ms = CHAIN_START
    for _ in range(reader.varint()):
        device, flags = reader.device(clock), reader.byte(flagsBelow)
        n = reader.number()
        if flags & 2:
            cut[device] = n - reader.varint()
            check(cut[device] > 0, "a save of the cut")
        clock[device] = {
            "device": device, "n": n, "time": reader.timestamp(),
            "digest": reader.digest(),
            **({"forked": True} if flags & 1 else {})}
    return [*clock.values()], listed(cut)


def readVersion(reader):
    clock, cut = readDevicesOfVersion(reader, flagsBelow=4)
    held = {entry["device"]: entry["n"] for entry in clock}
    ahead = {}
    for _ in range(reader.varint()):
        check(len(ahead) < 4096, "fields ahead")
        field, saves = reader.digest(), reader.vectorClock()
        check(int(field, 16) and ascends(ahead, field), "fields in order")
        check(saves and all(n > held.get(device, 0)
                            for device, n in saves.items()), "saves beyond")
        ahead[field] = {"field": field, "saves": listed(saves)}
    result = {"clock": clock, "stabilityCut": cut,
              "fieldsAhead": [*ahead.values()]}
    if prefixes := readPrefixes(reader, clock):
        result["prefixes"] = prefixes
    return result


def readPrefixes(reader, clock):
    prefixes, held = [], {entry["device"]: entry for entry in clock}
    for _ in range(reader.varint()):
        through = reader.recordID()
        saves, _ = readDevicesOfVersion(reader, flagsBelow=2)
        check(through and saves, "a prefix")
        check(not prefixes or prefixes[-1]["through"] < through, "in order")
        for save in saves:
            mine = held.setdefault(save["device"], {**save, "n": 0})
            check(mine and not isHeld(save, mine), "a save beyond")
            held[save["device"]] = None
        prefixes.append({"clock": saves, "through": through})
    return prefixes


def isHeld(save, held):
    """Whether a version with one save of a device has another one, too."""
    isForked, isHeldForked = save.get("forked"), held.get("forked")
    digest, known = int(save["digest"], 16), int(held["digest"], 16)
    return (not isForked and not isHeldForked and save["n"] < held["n"]
            or save["n"] <= held["n"] and save["time"] <= held["time"]
            and digest | known == known
            and (isHeldForked or not isForked and digest in (0, known)))


def readExchange(reader, kind):
    result = {"scope": reader.text(reader.varint(), limit=1024)}
    length = reader.varint()
    check(length in (0, 16), "a device or none")
    if length:
        result["device"] = reader.device()
    refusal, seconds, limit = (reader.varint() for _ in range(3))
    check(refusal >= 8 or not seconds, "seconds to wait")
    check(limit, "a part of at least one byte")
    result.update(refusal=refusal, seconds=seconds, byteLimit=limit)
    for name, letter in [("shown", "c"), ("part", "d")]:
        if length := reader.varint():
            message = reader.take(length)
            check(length > 1 and chr(message[1]) == letter, f"a message {letter}")
            result[name] = read(message)
            del result[name]["sections"]
    has = {name: name in result for name in ("device", "shown", "part")}
    if kind == "request":
        check(has["device"] and has["shown"] and not refusal, "a request")
    elif kind == "answer":
        check(has["shown"] or refusal and not has["device"]
              and not has["part"], "an answer")
    else:
        check(has["device"] and not refusal and has["shown"] != has["part"],
              "an object")
    return result


def read(data):
    """What the message holds."""
    check(len(data) >= 7 and data[0] == 0x52, "no message")
    check(chr(data[1]) in MESSAGES, "a kind")
    check(data[2] == 2, f"version {data[2]}")
    data, stored = data[:-4], int.from_bytes(data[-4:], "little")
    check(checksum(data) == stored, "damaged")
    kind = MESSAGES[chr(data[1])]
    reader, sizes = Reader(data, kind), {"devices": len(data) - 3}
    if kind == "vector clock":
        result = {"clock": listed(reader.vectorClock())}
    elif kind == "replica clock":
        result = readVersion(reader)
    elif kind == "restore token":
        sizes = {"token": len(data) - 3}
        result = {"clock": [{
            "device": reader.device(), "n": reader.varint(), "time": 0,
            "digest": reader.digest()}], "pulls": reader.varint()}
        others = reader.varint() if reader.offset < reader.end else None
        check(others is None or 0 < others <= 32, "other devices")
        for _ in range(others or 0):
            reader.device()
    elif kind in ("request", "answer", "object"):
        check(len(data) + 4 <= (1 << 30 if kind == "object" else 40 << 20), "size")
        sizes = {"content": len(data) - 3}
        result = readExchange(reader, kind)
    else:
        result, sizes = reader.message()
    check(reader.offset == reader.end, "more than the message")
    sizes = {name: size for name, size in sizes.items() if size}
    result.update(kind=kind, version="2",
                  sections={**sizes, "header": 3, "checksum": 4})
    return json.loads(json.dumps(result), parse_int=wide)


def checkSum(count, total):
    check(count <= 1 << 40 and abs(total) <= count << 63, "a sum")


def wide(digits):
    """A number, as a text if it needs more than 64 bits with a sign."""
    return int(digits) if -1 << 63 <= int(digits) < 1 << 63 else digits


def printed(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True,
                      separators=(",", ":"))


def sealed(data):
    return data + checksum(data).to_bytes(4, "little")


def damaged(data):
    """Damaged messages, each with what the answer must be."""
    body = data[:-4]
    yield data, "read"
    yield data + b"\0", "refused"
    yield sealed(body + b"\0"), "refused"
    for i, byte in enumerate(body):
        yield data[:i], "refused"
        yield sealed(body[:i]), "read or refused"
        # One of them writes a number in a longer form, if it ends here.
        for other in [[], [byte, 0], [0, byte], [byte | 0x80, 0],
                      *([byte ^ 1 << bit] for bit in range(8))]:
            changed = body[:i] + bytes(other) + body[i + 1:]
            yield changed + data[-4:], "refused"
            yield sealed(changed), "read or refused"


def examples():
    """What the article tells to refuse, and messages beside it to read."""
    words, path = {}, pathlib.Path(__file__).with_name("examples.txt")
    for line in path.read_text("utf-8").splitlines():
        name, *rest = line.split() or "#"
        if name != "#":
            words[name] = b"".join(
                words.get(word) or bytes.fromhex(word) for word in rest)
        if name in ("read", "refused"):
            yield sealed(words[name]), name


def answer(data, contents):
    try:
        result = read(data)
    except (Refused, UnicodeDecodeError):
        return "refused"
    except Exception as error:
        return f"{type(error).__name__} {error}"
    # The contents do not show all that the sections hold.
    size = result.pop("sections").get("sections", 0)
    content = hash((printed(result), data[-4 - size:-4]))
    same = contents.setdefault(content, data)
    return "read" if same == data else f"read as {same.hex()}"


def selfTest(paths):
    counts, contents = collections.Counter(), {}
    for data, right in itertools.chain(
            examples(), *(damaged(path.read_bytes()) for path in paths)):
        given = answer(data, contents)
        if given not in right.split(" or "):
            given = "wrong"
            print(f"{data.hex()} is not {right}")
        counts[given] += 1
    print(dict(counts))
    sys.exit(1 if counts["wrong"] or not counts["read"] else 0)


def compare(paths):
    answers = []
    for path in paths:
        try:
            expected = json.loads(path.with_suffix(".json").read_bytes())
            isRight = expected == read(path.read_bytes())
            answers.append("agrees" if isRight else "DIFFERS")
        except (Refused, UnicodeDecodeError, OSError) as error:
            answers.append(f"DIFFERS: {error}")
        print(f"{path.name}: {answers[-1]}")
    sys.exit(0 if {*answers} == {"agrees"} else 1)


def main():
    *options, name = sys.argv[1:] or [""]
    path = pathlib.Path(name)
    if not name or options not in ([], ["--self-test"]):
        sys.exit(__doc__)
    if path.is_dir():
        (selfTest if options else compare)(sorted(path.glob("*.bin")))
    else:
        print(printed(read(path.read_bytes())))


if __name__ == "__main__":
    main()
