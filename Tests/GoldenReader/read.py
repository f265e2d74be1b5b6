#!/usr/bin/env python3
"""Reads Rejoin's messages as the article "Wire format" describes them.

Written from the article alone, with nothing but the standard library, as a second
implementation that the golden vectors are checked against:

    python3 Tests/GoldenReader/read.py Tests/RejoinTests/Golden

reads every .bin file of the folder and compares what it holds with the .json file
beside it. With a file in place of the folder it prints what the file holds. With
--self-test before the folder it damages the files, and tells whether what must be
refused is refused, and that nothing is answered but "refused" or a value.
"""

import json
import os
import sys

MASK = (1 << 64) - 1
KINDS = {
    "d": "delta", "s": "snapshot", "r": "record", "v": "vector clock",
    "c": "replica clock", "p": "stored replica", "t": "restore token",
}
SHAPES = {0: "register", 2: "counter", 3: "set", 5: "ledger"}


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


def wide(number):
    return number if -(1 << 63) <= number < 1 << 63 else str(number)


def hexadecimal(number):
    return f"{number:016x}"


class Bytes:
    """The primitives."""

    def __init__(self, data, offset=0):
        self.data = data
        self.offset = offset

    @property
    def remaining(self):
        return len(self.data) - self.offset

    def take(self, count):
        check(count <= self.remaining, f"byte {self.offset}: too short")
        self.offset += count
        return self.data[self.offset - count:self.offset]

    def byte(self):
        return self.take(1)[0]

    def varint(self, bits=64):
        number, shift = 0, 0
        while True:
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                check(byte or not shift, "not the shortest form")
                check(number >> bits == 0, "too many bits")
                return number
            shift += 7
            check(shift < bits + 7, "too many bits")

    def signed(self, bits=64):
        return unzigzag(self.varint(bits))

    def pair(self):
        byte = self.byte()
        low, high = byte & 15, byte >> 4
        if low == 15:
            low += self.varint(31)
        if high == 15:
            high += self.varint(31)
        return low, high

    def fixed(self):
        return int.from_bytes(self.take(8), "little")

    def text(self, count):
        try:
            return self.take(count).decode("utf-8")
        except UnicodeDecodeError as error:
            raise Refused("not UTF-8") from error

    def device(self, previous):
        if previous is None:
            return self.take(16)
        shared = self.byte()
        check(shared < 16, "shares too much")
        device = previous[:shared] + self.take(16 - shared)
        check(device > previous, "devices in order")
        check(device[shared] != previous[shared], "shares more")
        return device

    def value(self):
        head = self.varint()
        form, content = head & 7, head >> 3
        if form == 0:
            check(content < 4, "a constant")
            return [None, {"null": True}, {"bool": False},
                    {"bool": True}][content]
        if form == 1:
            return {"int": unzigzag(content)}
        if form == 2:
            check(content < 2, "an integer or a date")
            bits = self.fixed()
            number = bits - (1 << 64) if bits >> 63 else bits
            check(abs(number) >= 1 << 60 and number != -(1 << 60), "is short")
            return {["int", "date"][content]: number}
        if form == 3:
            check(content == 0, "a number")
            bits = self.fixed()
            check(bits != 1 << 63, "negative zero")
            isNaN = bits & 0x7FF << 52 == 0x7FF << 52 and bits << 12 & MASK
            check(not isNaN or bits == 0x7FF8 << 48, "another NaN")
            return {"double": hexadecimal(bits)}
        if form == 4:
            return {"string": self.text(content)}
        if form == 5:
            return {"bytes": list(self.take(content))}
        if form == 6:
            return {"date": unzigzag(content)}
        return {"reference": [self.text(content), self.text(self.varint())]}


class Times:
    """A chain of times."""

    def __init__(self):
        self.ms, self.logical = 1704067200000, 0

    def read(self, data):
        head = data.varint()
        form, content = head & 3, head >> 2
        if head == 0:
            return None
        check(form != 0, "a form of a time")
        if form == 1:
            self.logical += content + 1
        else:
            before = self.ms, self.logical
            self.ms += unzigzag(content)
            self.logical = data.varint() if form == 3 else 0
            check(form == 2 or self.logical > 0, "logical zero")
            check(form == 2 or self.ms != before[0]
                  or self.logical < before[1] or self.logical == before[1],
                  "later in the millisecond")
        check(0 <= self.ms < 1 << 48 and self.logical < 1 << 16, "a time")
        return self.ms << 16 | self.logical


def order(value):
    """Where an element of a set stands."""
    (kind, content), = value.items()
    rank = ["null", "bool", "int", "double", "string", "bytes", "date",
            "reference"].index(kind)
    if kind == "double":
        bits = int(content, 16)
        content = MASK ^ bits if bits >> 63 else bits | 1 << 63
    elif kind == "string":
        content = content.encode()
    elif kind == "reference":
        content = [part.encode() for part in content]
    return rank, content


class Message(Bytes):
    """Devices, records and sections."""

    def __init__(self, data, kind):
        super().__init__(data, 3)
        self.kind = kind
        self.last = -1
        self.sizes = {"header": 3}
        self.own, self.isDoubtful, self.lastDigest = None, 0, None
        self.stable, self.ours = [], set()
        devices, entities = self.pair()
        self.readDevices(devices)
        self.sizes["devices and saves"] = self.offset - 3
        start, names, keys = self.offset, 0, 0
        self.records = []
        previous = None
        for _ in range(entities):
            entity, fields, size = self.readTable()
            check(previous is None or previous < entity.encode(), "entities")
            previous = entity.encode()
            names += size
            keys += self.readRecords(entity, fields)
        self.sizes["entities and field names"] = names
        self.sizes["record names"] = keys
        self.sizes["fields"] = self.offset - start - names - keys
        self.sizes["sections"] = self.remaining
        self.readSections()
        self.sizes["checksum"] = 4
        check(all(self.used), "a save that nothing refers to")
        check(all(self.usedDevices), "a device that nothing refers to")
        for time, exact in zip(self.times, self.exact):
            check((time is None) != exact, "a time that nothing has")
        check(kind != "record"
              or len(self.records) == 1 and not self.intervals, "one record")

    def readDevices(self, count):
        self.devices, self.intervals = [], []
        self.saves, self.times = [], []
        self.starts, self.ends = [], []
        chain, device, ends = Times(), None, []
        for index in range(count):
            device = self.device(device)
            head = self.varint()
            number, flags = head >> 4, head & 15
            self.devices.append(device)
            self.starts.append(len(self.saves))
            numbers = []
            if number:
                numbers.append(self.varint())
                check(numbers[0] > 0, "a number from 1 on")
            else:
                check(flags == 0, "a device without saves")
            for _ in range(1, number):
                gap = 0 if flags & 2 else self.varint()
                numbers.append(numbers[-1] + gap + 1)
            check(not numbers or numbers[-1] < 1 << 64, "too great")
            dense = number and numbers[-1] - numbers[0] == number - 1
            check(bool(dense) == bool(flags & 2), "follow on each other")
            check(flags & 1 or not flags & 12, "no interval")
            after, later = 0, 0
            if flags & 8:
                after, later = self.varint(), self.varint()
                check(after < number and (after or later), "an end")
            step = None
            if self.kind == "delta" and flags & 1:
                step = 0 if flags & 4 else self.varint()
                check(flags & 4 or step, "one save")
            else:
                check(not flags & 4, "one save")
            self.saves += [(device, n) for n in numbers]
            self.times += [chain.read(self) for _ in numbers]
            self.ends.append(len(self.saves))
            if flags & 1:
                place = len(self.saves) - 1 - after
                n, time = self.saves[place][1], self.times[place]
                check(time is not None and time + later <= MASK, "a time")
                origin = n - 1 - step if step is not None else 0
                check(origin >= 0, "begins before zero")
                ends.append((place, later))
                self.intervals.append({
                    "index": index, "device": device.hex(),
                    "from": wide(origin), "n": wide(n),
                    "time": wide(time + later), "digest": hexadecimal(0)})
        self.used = [False] * len(self.saves)
        self.exact = [False] * len(self.saves)
        self.usedDevices = [a < b for a, b in zip(self.starts, self.ends)]
        for place, later in ends:
            self.used[place] = True
            self.exact[place] |= later == 0

    def readTable(self):
        start = self.offset
        length, count = self.pair()
        check(length < 256, "a name of 255 bytes at most")
        entity = self.text(length)
        fields, previous = [], None
        for _ in range(count):
            shape, length = self.pair()
            check(shape & 7 in SHAPES and shape < 32, "a newer shape")
            check(shape < 16 or shape & 7 > 1
                  and self.kind in ("delta", "record"), "a fragment")
            name, variant = self.text(length), None
            check(name and length < 256, "a name")
            if shape & 8:
                length = self.varint()
                variant = self.text(length)
                check(length < 256, "a variant of 255 bytes at most")
                check(variant and variant != SHAPES[shape & 7], "a variant")
            key = (name.encode(), shape & 7, (variant or "").encode(),
                   shape & 16)
            check(previous is None or previous < key, "fields in order")
            previous = key
            fields.append((name, shape & 23, variant))
        return entity, fields, self.offset - start

    def readRecords(self, entity, table):
        size, key, layout, seen = 0, None, None, set()
        while True:
            start = self.offset
            shared, rest = self.pair()
            before = key or b""
            check(shared <= min(len(before), 63), "shares too much")
            rest = self.take(rest)
            if key is not None:
                check(shared == 63 or shared == len(before)
                      or rest[:1] != before[shared:shared + 1], "shares more")
                check(before[:shared] + rest > before, "records in order")
            key = before[:shared] + rest
            size += self.offset - start
            head = self.varint()
            form = head >> 2 & 3
            check(form < 3 or not head & 2, "the fields of form 3")
            if head & 2:
                check(layout is not None, "no record before")
            else:
                count, first = self.pair()
                indices = [first >> 1][:count]
                check(count or first == 1, "a field")
                for _ in range(1, count):
                    indices.append(indices[-1] + 1 + self.varint())
                check(all(i < len(table) for i in indices), "a field")
                keys = [(table[i][0], table[i][1] & 7, table[i][2])
                        for i in indices]
                check(len(set(keys)) == len(keys), "a field and its fragment")
                check(form == 3 or (indices, first & 1) != layout,
                      "the same fields")
                layout = indices, first & 1
                seen |= set(indices)
            fields = [table[i] for i in layout[0]]
            content = self.readFields(fields, layout[1], form, head >> 4)
            try:
                name = key.decode("utf-8")
            except UnicodeDecodeError as error:
                raise Refused("not UTF-8") from error
            self.records.append(
                {"entity": entity, "key": name, "fields": content})
            if head & 1:
                break
        check(len(seen) == len(table), "a field that no record has")
        return size

    def readFields(self, fields, exists, form, distance):
        result = self.readForm(fields, form, distance)
        return ([self.readMarks(result)] if exists else []) + result

    def readForm(self, fields, form, distance):
        if form == 0:
            check(distance == 0, "no distance")
            result = [self.readField(*field) for field in fields]
            check(not self.isShort(result), "a short form")
            check(len(result) < 2 or any(
                field["content"] or field["clock"] != result[0]["clock"]
                or "basis" in field for field in result), "form 3")
            return result
        if form == 3:
            check(distance == 0 and len(fields) > 1, "form 3")
            result = [self.readField(*fields[0])]
            check(not result[0]["content"], "no content")
            check(all(field[1] < 16 for field in fields), "no fragment")
            rest = [(entry["device"], int(entry["n"]))
                    for entry in result[0]["clock"]]
            return result + [
                self.finish(field, [], [], rest) for field in fields[1:]]
        place = self.last + 1 + unzigzag(distance)
        check(len(fields) > (0 if form == 1 else 1), "form 1")
        end = place if form == 1 else place + len(fields) - 1
        check(0 <= place and end < len(self.saves), "a save")
        check(all(field[1] == 0 for field in fields), "registers")
        result = []
        for i, field in enumerate(fields):
            write = self.write(place if form == 1 else place + i, 0)
            write["value"] = self.value()
            result.append(self.finish(field, [write], [write]))
        self.last = end
        return result

    def readMarks(self, fields):
        head = self.varint()
        check(head, "an existence with a save")
        marks, forms = [], []
        for i in range(head >> 1):
            code = self.varint()
            place = self.reference(code >> 4, i == 0)
            form, purges = code >> 1 & 3, bool(code & 8)
            check(form < 3 and (form or not purges), "a form of a mark")
            mark = self.write(place, self.later(code & 1))
            mark["purge"] = purges
            covered = self.readClock() if form == 2 else None
            mark["covered"] = (
                None if covered is None else self.listed(covered))
            marks.append(mark)
            forms.append(form)
        rest = self.readRest() if head & 1 else []
        result = self.finish(("", 6, None), marks, marks, rest)
        everything = {}
        for field in fields + [result]:
            for entry in [] if "basis" in field else field["clock"]:
                n = everything.get(entry["device"], 0)
                everything[entry["device"]] = max(n, int(entry["n"]))
        everything = self.listed(everything)
        check(len(marks) == 1 or 1 not in forms, "form 1 of several marks")
        if forms == [1]:
            marks[0]["covered"] = everything
        elif forms == [2]:
            check(marks[0]["covered"] != everything, "form 1 of a mark")
        return result

    def listed(self, clock):
        return [{"device": device, "n": wide(n)}
                for device, n in sorted(clock.items())]

    def readClock(self):
        clock, index = {}, 0
        for _ in range(self.varint()):
            index += self.varint()
            check(index < len(self.devices), "a device")
            n = self.varint()
            check(n, "a number from 1 on")
            self.usedDevices[index] = True
            clock[self.devices[index].hex()] = n
            index += 1
        return clock

    def isShort(self, fields):
        places = []
        for field in fields:
            content = field["content"]
            if field["kind"] != "register" or len(content) != 1:
                return False
            write = content[0]
            save = bytes.fromhex(write["device"]), int(write["n"])
            place = self.saves.index(save)
            if wide(self.times[place]) != write["time"]:
                return False
            if field["clock"] != [{"device": write["device"],
                                   "n": write["n"]}]:
                return False
            places.append(place)
        return bool(places) and (
            len(set(places)) == 1
            or places == list(range(places[0], places[0] + len(places))))

    def reference(self, code, isFirst):
        moved = unzigzag(code) if isFirst else code
        place = self.last + 1 + moved
        check(0 <= place < len(self.saves), "a save")
        self.last, self.used[place] = place, True
        return place

    def stamp(self, place, later):
        check(self.times[place] is not None, "a save with a time")
        check(self.times[place] + later <= MASK, "a time")
        self.used[place] = True
        self.exact[place] |= later == 0
        return wide(self.times[place] + later)

    def dot(self, place):
        device, n = self.saves[place]
        return {"device": device.hex(), "n": wide(n)}

    def write(self, place, later):
        return {**self.dot(place), "time": self.stamp(place, later)}

    def later(self, isLater):
        later = self.varint() if isLater else 0
        check(later or not isLater, "a later time")
        return later

    def finish(self, field, content, dots, rest=()):
        clock = {}
        for dot in dots:
            device, n = dot["device"], int(dot["n"])
            clock[device] = max(clock.get(device, 0), n)
        for device, beyond in rest:
            clock[device] = clock.get(device, 0) + beyond
            check(clock[device] <= MASK, "a number")
        check(clock or content, "a field without content")
        name, shape, variant = field
        result = {
            "name": name, "kind": SHAPES.get(shape & 7, "existence"),
            "content": content,
            "clock": [{"device": device, "n": wide(n)}
                      for device, n in sorted(clock.items())]}
        if variant:
            result["variant"] = variant
        return result

    def readField(self, name, shape, variant):
        head, isFragment = self.varint(), shape & 16
        shape &= 7
        if shape == 0:
            content = self.readWrites(head >> 2, head >> 1 & 1)
            dots = content
        elif shape == 2:
            content = dots = self.readEntries(head >> 1)
        elif shape == 3:
            content = self.readElements(head >> 1)
            dots = [mark for element in content for mark in element["marks"]]
        else:
            content = self.readLines(head >> 1, isFragment)
            dots = [{"device": line["device"], "n": entry["n"]}
                    for line in content for entry in line["entries"]]
        rest = self.readRest() if head & 1 else []
        check(content or rest, "a field that was touched")
        field = self.finish((name, shape, variant), content, dots, rest)
        if isFragment:
            self.readBasis(field, shape, content)
        return field

    def readBasis(self, field, shape, content):
        whole = shape == 3 or any(
            entry.get("cancelled") for entry in content)
        seen = {entry["device"] for entry in field["clock"]}
        check(shape != 5 or all(line["device"] in seen for line in content),
              "a line of a device that was not heard of")
        basis, news = [], False
        for entry in field["clock"]:
            new, last = self.varint(), int(entry["n"])
            check(new <= last and (new or whole), "new saves")
            news = news or new > 0
            if new < last:
                basis.append({**entry, "n": wide(last - new)})
        check(news, "something new")
        field["basis"], field["whole"] = basis, whole

    def readRest(self):
        rest, index = [], 0
        count = self.varint()
        check(count, "a rest")
        for _ in range(count):
            index += self.varint()
            check(index < len(self.devices), "a device")
            self.usedDevices[index] = True
            rest.append((self.devices[index].hex(), self.varint() + 1))
            index += 1
        return rest

    def readWrites(self, count, isPlain):
        content, places, exact = [], [], True
        for i in range(count):
            if isPlain:
                code, later = (self.varint() if i == 0 else 0), 0
                place = self.reference(code, i == 0)
            else:
                code = self.varint()
                place = self.reference(code >> 1, i == 0)
                later = self.later(code & 1)
            exact = exact and not later
            places.append(place)
            content.append({**self.write(place, later), "value": self.value()})
        plain = count and exact and places[-1] - places[0] == count - 1
        check(bool(plain) == bool(isPlain), "plain writes")
        return content

    def readEntries(self, count):
        content, device = [], None
        for i in range(count):
            code = self.varint()
            dot = self.dot(self.reference(code >> 2, i == 0))
            check(device is None or device < dot["device"], "one of a device")
            device, n = dot["device"], int(dot["n"])
            sums = self.varint(), self.varint()
            entry = {**dot, "increments": wide(sums[0]),
                     "decrements": wide(sums[1])}
            check(code & 3 < 3, "a form of an entry")
            if code & 3 == 1:
                entry["cancelled"] = dict(entry)
            elif code & 3 == 2:
                earlier = n - self.varint(), self.varint(), self.varint()
                check(0 < earlier[0] and earlier < (n, *sums), "earlier")
                entry["cancelled"] = {
                    "device": device, "n": wide(earlier[0]),
                    "increments": wide(earlier[1]),
                    "decrements": wide(earlier[2])}
            content.append(entry)
        return content

    def readElements(self, count):
        content = []
        for _ in range(count):
            element = self.value()
            check(element is not None, "an element")
            check(not content
                  or order(content[-1]["element"]) < order(element),
                  "elements in order")
            marks, more = [], True
            while more:
                code = self.varint()
                marks.append(self.dot(self.reference(code >> 1, not marks)))
                more = code & 1
            content.append({"element": element, "marks": marks})
        return content

    def readSum(self):
        count, total = self.varint(), self.signed(128)
        check(0 < count <= 1 << 40 and abs(total) <= count << 63, "a sum")
        return count, total

    def readLines(self, count, isFragment):
        content, index = [], 0
        for _ in range(count):
            code, continues = self.varint(), False
            if isFragment:
                continues, code = code & 1, code >> 1
                check(not continues or not code & 1, "no sum")
            index += code >> 2
            check(index < len(self.devices), "a device")
            self.usedDevices[index] = True
            folded = self.readSum() if code & 1 else (0, 0)
            if continues:
                folded = self.varint(), 0
                check(0 < folded[0] <= 1 << 40, "an index")
            cancelled = self.readSum() if code & 2 else (0, 0)
            entries, place = [], self.starts[index]
            for _ in range(self.varint()):
                code = self.varint()
                place += unzigzag(code >> 1)
                later = self.later(code & 1)
                check(self.starts[index] <= place < self.ends[index], "a save")
                entries.append({
                    "n": wide(self.saves[place][1]),
                    "time": self.stamp(place, later),
                    "amount": self.signed(), "memo": self.value()})
            check(cancelled[0] <= folded[0] if continues
                  else cancelled <= folded, "more cancelled than folded")
            check(entries or (cancelled[0] if continues else folded[0]),
                  "entries")
            content.append({
                **({"continued": True} if continues else {}),
                "device": self.devices[index].hex(), "folded": folded[0],
                "foldedSum": wide(folded[1]), "cancelled": cancelled[0],
                "cancelledSum": wide(cancelled[1]), "entries": entries})
            index += 1
        return content

    def readSections(self):
        previous = 0
        while self.remaining:
            number, length = self.pair()
            check(number > previous, "sections in order")
            previous = number
            part = Bytes(self.take(length))
            if number == 1 and self.kind != "record":
                for interval in self.intervals:
                    interval["digest"] = hexadecimal(part.fixed())
                check(any(int(i["digest"], 16) for i in self.intervals),
                      "a digest")
            elif number == 2 and self.kind != "record":
                self.readForks(part)
            elif 2 < number < 8 and self.kind == "stored replica":
                self.readOwn(number, part)
            else:
                check(False, "a section")
            check(not part.remaining, "more than the section")

    def readOwn(self, number, part):
        """What a stored replica keeps to itself."""
        check(part.remaining, "no empty section")
        if number == 3:
            self.own = part.take(16).hex()
            part.fixed()
            check(part.signed() >= 0, "a drag bound")
            flags = part.byte()
            check(flags < 8, "flags")
            self.isDoubtful = flags & 1
            if flags & 1:
                part.varint()
            if flags & 2:
                part.take(16)
            if flags & 4:
                part.varint(), part.fixed()
        elif number == 4:
            cut, mark = readClock(part), readClock(part)
            device, passed = None, part.varint()
            for _ in range(passed):
                device = part.device(device)
            check(cut or mark or passed, "something that is stable")
            self.stable = cut + mark
        elif number == 5:
            previous = None
            while part.remaining:
                name = part.text(part.varint())
                check(previous is None or previous < name, "servers in order")
                previous = name
                self.ours.add(part.take(16).hex())
        elif number == 7:
            fields = [field for record in self.records
                      for field in record["fields"]]
            place = 0
            while part.remaining:
                place += part.varint()
                check(place < len(fields), "a field")
                clock = {entry["device"]: int(entry["n"])
                         for entry in fields[place]["clock"]}
                horizon = readClock(part)
                check(fields[place]["kind"] != "register", "a shape")
                check(all(int(entry["n"]) <= clock.get(entry["device"], 0)
                          for entry in horizon), "a horizon")
                check(horizon != fields[place]["clock"], "another horizon")
                place += 1
        else:
            self.lastDigest = part.varint()
            check(part.remaining and part.remaining // 8 <= 4096, "digests")
            while part.remaining:
                part.fixed()
                self.lastDigest += 1

    def checkOwn(self):
        """What of a stored replica must fit its clock."""
        held = {i["device"]: int(i["n"]) for i in self.intervals}
        for entry in self.stable:
            check(int(entry["n"]) <= held.get(entry["device"], 0),
                  "what is stable is held")
        forked = {i["device"] for i in self.intervals if i.get("forked")}
        if self.isDoubtful or forked & (self.ours | {self.own}):
            return
        saved = held.get(self.own, 0)
        check((self.lastDigest or 0) == saved
              and (self.lastDigest is None) == (saved == 0), "own digests")
        for record in self.records:
            for field in record["fields"]:
                for entry in field["clock"]:
                    check(entry["device"] != self.own
                          or int(entry["n"]) <= saved, "own saves")

    def readForks(self, part):
        index = 0
        byIndex = {i["index"]: i for i in self.intervals}
        check(part.remaining, "a forked device")
        while part.remaining:
            index += part.varint()
            check(index in byIndex, "an interval")
            byIndex[index]["forked"] = True
            index += 1


def readClock(body):
    clock, device = [], None
    for _ in range(body.varint()):
        device = body.device(device)
        n = body.varint()
        check(n, "a number")
        clock.append({"device": device.hex(), "n": wide(n)})
    return clock


def places(body, clock):
    """Some of the devices of a clock."""
    index = 0
    for _ in range(body.varint()):
        index += body.varint()
        check(index < len(clock), "one of the devices")
        yield clock[index]
        index += 1


def readReplicaClock(body):
    clock, device, times = [], None, Times()
    for _ in range(body.varint()):
        device = body.device(device)
        n = body.varint()
        check(n, "a number")
        clock.append({
            "device": device.hex(), "n": wide(n),
            "time": wide(times.read(body) or 0),
            "digest": hexadecimal(body.fixed())})
    for entry in places(body, clock):
        entry["forked"] = True
    cut = []
    for entry in places(body, clock):
        n = int(entry["n"]) - body.varint()
        check(n > 0, "a save that is stable")
        cut.append({"device": entry["device"], "n": wide(n)})
    held = {entry["device"]: int(entry["n"]) for entry in clock}
    ahead, previous, count = [], 0, body.varint()
    check(count <= 4096, "fields ahead")
    for _ in range(count):
        digest, saves = body.fixed(), readClock(body)
        check(digest > previous and saves, "fields in order")
        for entry in saves:
            check(int(entry["n"]) > held.get(entry["device"], 0),
                  "saves beyond the clock")
        ahead.append({"field": hexadecimal(digest), "saves": saves})
        previous = digest
    return {"clock": clock, "stabilityCut": cut, "fieldsAhead": ahead}


def read(data):
    """What a message holds, as `rejoin inspect --format json` prints it."""
    check(len(data) >= 7 and data[0] == 0x52, "no message")
    check(chr(data[1]) in KINDS, "a kind")
    kind = KINDS[chr(data[1])]
    check(data[2] == 1, f"version {data[2]}")
    data, stored = data[:-4], int.from_bytes(data[-4:], "little")
    check(checksum(data) == stored, "damaged")
    result = {"kind": kind, "version": str(data[2])}
    if "clock" in kind:
        body = Bytes(data, 3)
        if kind == "replica clock":
            result.update(readReplicaClock(body))
        else:
            result["clock"] = readClock(body)
        check(not body.remaining, "more than the clock")
        sizes = {"header": 3, "devices": body.offset - 3, "checksum": 4}
    elif kind == "restore token":
        body = Bytes(data, 3)
        result["clock"] = [{
            "device": body.take(16).hex(), "n": wide(body.varint()),
            "time": 0, "digest": hexadecimal(body.fixed())}]
        result["pulls"] = wide(body.varint())
        check(not body.remaining, "more than the token")
        sizes = {"header": 3, "token": body.offset - 3, "checksum": 4}
    else:
        message = Message(data, kind)
        sizes = message.sizes
        for interval in message.intervals:
            del interval["index"]
        result["records"] = message.records
        if kind in ("delta", "snapshot"):
            result["intervals"] = message.intervals
        if kind == "stored replica":
            for interval in message.intervals:
                del interval["from"]
            check(message.own, "the section of the device")
            message.checkOwn()
            result["clock"], result["device"] = message.intervals, message.own
    result["sections"] = {name: n for name, n in sizes.items() if n}
    return result


def sealed(data):
    """The bytes, after which their checksum comes."""
    return data + checksum(data).to_bytes(4, "little")


def answer(data):
    """Whether the bytes are a message; any other exception is a fault."""
    try:
        read(data)
    except Refused:
        return False
    return True


class SelfTest:
    """Damages messages and counts what is answered."""

    def __init__(self):
        self.tried, self.values, self.faults = 0, 0, 0

    def tryOut(self, name, data, mayBeRead=False):
        self.tried += 1
        try:
            isRead = answer(data)
        except Exception as error:
            self.fault(f"{name}: {type(error).__name__} {error}", data)
            return
        self.values += isRead
        if isRead and not mayBeRead:
            self.fault(f"{name}: is read", data)

    def fault(self, what, data):
        self.faults += 1
        print(f"{what}: {data.hex()}")

    def damage(self, name, data):
        body = data[:-4]
        for count in range(len(data)):
            self.tryOut(f"{name} cut to {count}", data[:count])
        for count in range(len(body)):
            self.tryOut(f"{name} cut to {count}, sealed",
                        sealed(body[:count]), mayBeRead=True)
        self.tryOut(f"{name} with a byte more", data + b"\0")
        self.tryOut(f"{name} with a byte more, sealed", sealed(body + b"\0"))
        for bit in range(8 * len(data)):
            turned = bytearray(data)
            turned[bit // 8] ^= 1 << bit % 8
            if bit % 5 == 0:
                self.tryOut(f"{name} with bit {bit}", bytes(turned))
            if bit < 8 * len(body):
                self.tryOut(f"{name} with bit {bit}, sealed",
                            sealed(bytes(turned[:-4])), mayBeRead=True)

    def refusals(self):
        """What the article says must be refused, each beside what is read."""
        device = bytes(15)
        one = b"Rv\1\1" + device + b"\1"
        for isRead, what, body in [
            (True, "a clock", one + b"\5"),
            (False, "a clock without checksum", None),
            (False, "a number in a long form", one + b"\x85\0"),
            (False, "a number of 65 bits", one + b"\xff" * 9 + b"\2"),
            (True, "a number of 64 bits", one + b"\xff" * 9 + b"\1"),
            (False, "a number that is zero", one + b"\0"),
            (False, "a byte too many", one + b"\5\0"),
            (False, "a device too few", b"Rv\1\2" + one[4:] + b"\5"),
            (False, "2\u2076\u00b2 devices",
             b"Rv\1" + b"\xff" * 8 + b"\x7f" + one[4:] + b"\5"),
            (True, "two devices",
             b"Rv\1\2" + one[4:] + b"\5\x0f\2\1"),
            (False, "a device twice",
             b"Rv\1\2" + one[4:] + b"\5\x0f\1\1"),
            (False, "a device that shares more",
             b"Rv\1\2" + one[4:] + b"\5\x0e\0\2\1"),
            (False, "another letter", b"Sv\1\0"),
            (False, "another kind", b"Rx\1\0"),
            (False, "a newer version", b"Rv\2\0"),
            (False, "no version", b"Rv\0\0"),
        ]:
            data = sealed(body) if body else one + b"\5" + bytes(4)
            self.tried += 1
            if answer(data) != isRead:
                self.fault(f"{what}: {'refused' if isRead else 'read'}", data)


def selfTest(folder):
    test = SelfTest()
    test.refusals()
    for name in vectors(folder):
        with open(os.path.join(folder, name), "rb") as file:
            test.damage(name, file.read())
    print(f"{test.tried} damaged messages, {test.values} of them read as "
          f"others, {test.faults} faults")
    sys.exit(1 if test.faults or not test.values else 0)


def vectors(folder):
    return sorted(n for n in os.listdir(folder) if n.endswith(".bin"))


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--self-test":
        selfTest(sys.argv[2])
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    path = sys.argv[1]
    if not os.path.isdir(path):
        with open(path, "rb") as file:
            print(json.dumps(read(file.read()), ensure_ascii=False))
        return
    names = vectors(path)
    wrong = 0
    for name in names:
        with open(os.path.join(path, name), "rb") as file:
            data = file.read()
        with open(os.path.join(path, name[:-4] + ".json"), "rb") as file:
            expected = json.loads(file.read().decode("utf-8"))
        try:
            agrees = read(data) == expected
        except Refused as error:
            agrees = False
            print(f"{name}: {error}")
        wrong += not agrees
        print(f"{name}: {'agrees' if agrees else 'DIFFERS'}")
    print(f"{len(names)} vectors, {wrong} differ")
    sys.exit(1 if wrong or not names else 0)


if __name__ == "__main__":
    main()
