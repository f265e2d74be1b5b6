// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// A generator of one episode.
struct EpisodeWriter {
  private let workload: Workload
  private var source: SeededRandom
  private var kinds: [String: FieldKind] = [:]
  /// The number of generated values, so that each new value is different.
  private var writes = 0

  init(_ workload: Workload, _ source: SeededRandom) {
    self.workload = workload
    self.source = source
  }

  /// Generates the parts of an episode, between which the devices sync.
  mutating func episodes(_ id: String) -> [Episode] {
    let fields = (1...max(workload.fields, 1)).map { "field\($0)" }
    let counters = share(workload.counters, of: fields.count)
    let sets = share(workload.sets, of: fields.count)
    for field in fields.prefix(counters) { kinds[field] = .counter }
    for field in fields.dropFirst(counters).prefix(sets) {
      kinds[field] = .set
    }
    var base = source.happens(0.05) ? nil : record(fields)
    let devices = (1...max(workload.devices, 1)).map { "device\($0)" }
    var earlier: [Episode.Edit] = []
    if workload.deleted > 0, source.happens(workload.deleted) {
      earlier = creationAndDeletion(of: base ?? [:], by: devices)
      base = nil
    }
    let size =
      workload.contact > 0 ? workload.contact : workload.editsPerDevice
    var episodes: [Episode] = []
    for start in stride(from: 0, to: workload.editsPerDevice, by: max(size, 1))
    {
      let count = min(size, workload.editsPerDevice - start)
      let edits = devices.flatMap {
        self.edits(count, of: $0, on: base, fields, after: start)
      }
      let part = workload.contact > 0 ? ".\(start / size + 1)" : ""
      var arrival = devices.shuffled(using: &source)
      if workload.repeats > 0 {
        arrival += devices.filter { _ in source.happens(workload.repeats) }
      }
      var episode = Episode(
        id: id + part, base: base, kinds: kinds, edits: edits, arrival: arrival)
      episode.earlier = earlier
      episodes.append(episode)
      earlier = []
      base = edits.sorted { ($0.at, $0.device) < ($1.at, $1.device) }
        .reduce(base) { $1.applied(to: $0, of: kinds) }
    }
    return episodes
  }

  private func share(_ share: Double, of count: Int) -> Int {
    Int((share * Double(count)).rounded())
  }

  private mutating func record(_ fields: [String]) -> PlainRecord {
    var record: PlainRecord = [:]
    for field in fields where source.happens(0.9) {
      switch kinds[field] {
      case .counter: record[field] = .count(Int64(source.number(below: 100)))
      case .set: record[field] = .elements(Set((0..<3).map { _ in element() }))
      default: record[field] = .value(value())
      }
    }
    return record
  }

  /// Generates a save that creates a record, and the deletion by a device that
  /// may be another one.
  private mutating func creationAndDeletion(
    of record: PlainRecord, by devices: [String]
  ) -> [Episode.Edit] {
    (0..<2).map { index in
      let minute = Self.start - Int64(2 - index) * 60_000
      let at = minute + Int64(choice(60_000)) + offset()
      var edit = Episode.Edit(devices[choice(devices.count)], at: rounded(at))
      edit.isDeletion = index == 1
      guard index == 0 else { return edit }
      for (field, content) in record.sortedByKey {
        switch content {
        case .value(let value): edit.set[field] = value
        case .count(let count): edit.increment[field] = count
        case .elements(let elements): edit.insert[field] = elements.sorted()
        }
      }
      return edit
    }
  }

  /// The start of the time offline, in milliseconds.
  private static let start: Int64 = 1_700_000_000_000

  /// Returns a time as a device's clock shows it.
  private func rounded(_ time: Int64) -> Int64 {
    max(time - time % max(workload.tick, 1), 0)
  }

  /// Generates the edits of a device, each on the device's own copy of the
  /// record.
  ///
  /// The error of the device's clock is constant until the clock is corrected,
  /// which happens once in ten edits.
  private mutating func edits(
    _ count: Int, of device: String, on base: PlainRecord?, _ fields: [String],
    after earlier: Int
  ) -> [Episode.Edit] {
    var copy = base
    var offset = offset()
    var now = Self.start + Int64(earlier) * 60_000
    return (0..<count).map { _ in
      now += Int64(1 + source.number(below: 60_000))
      if source.happens(0.1) { offset = self.offset() }
      let edit = edit(
        Episode.Edit(device, at: rounded(now + offset)), on: copy, fields)
      copy = edit.applied(to: copy, of: kinds)
      return edit
    }
  }

  private mutating func offset() -> Int64 {
    guard workload.skew > 0 else { return 0 }
    // Limit the error, so that the width fits an `Int`.
    let width = min(workload.skew, 1 << 50) * 2 + 1
    return Int64(source.number(below: Int(width))) - width / 2
  }

  private mutating func edit(
    _ empty: Episode.Edit, on copy: PlainRecord?, _ fields: [String]
  ) -> Episode.Edit {
    var edit = empty
    if copy != nil && source.happens(workload.deletions) {
      edit.isDeletion = true
      return edit
    }
    var chosen = Array(fields.shuffled(using: &source).prefix(1 + choice(2)))
    // Registers are last, so the shared field is a register if possible.
    if workload.contention > 0, let hot = fields.last,
      source.happens(workload.contention), !chosen.contains(hot)
    {
      chosen.append(hot)
    }
    for field in chosen { change(field, of: copy ?? [:], in: &edit) }
    return edit
  }

  private mutating func choice(_ count: Int) -> Int {
    source.number(below: count)
  }

  /// Changes a field to different content.
  ///
  /// An app does not notice that a user wrote the existing content again, so it
  /// does not send such a write.
  private mutating func change(
    _ field: String, of copy: PlainRecord, in edit: inout Episode.Edit
  ) {
    if copy[field] != nil, source.happens(workload.clears) {
      edit.clear.append(field)
      return
    }
    let present = copy.elements(field)
    let absent = Self.elements.filter { !present.contains($0) }
    switch kinds[field] {
    case .counter:
      let amount = Int64(1 + choice(9))
      if workload.resets > 0, source.happens(workload.resets) {
        edit.set[field] = .int(amount)
      } else {
        edit.increment[field] = source.happens(0.5) ? amount : -amount
      }
    case .set where absent.isEmpty || !present.isEmpty && source.happens(0.4):
      edit.remove[field] = [present.sorted()[choice(present.count)]]
    case .set: edit.insert[field] = [absent[choice(absent.count)]]
    default:
      let value = value()
      let isThere = copy[field] == .value(value)
      edit.set[field] = isThere ? .string("text\(writes)") : value
    }
  }

  private static var elements: [Value] { (0..<8).map { .string("tag\($0)") } }

  private mutating func element() -> Value { Self.elements[choice(8)] }

  /// Returns a new value or, once in ten times, a value that other devices also
  /// choose.
  ///
  /// Equal values do not conflict.
  private mutating func value() -> Value {
    writes += 1
    return source.happens(0.1) ? .string("same") : .string("text\(writes)")
  }
}

extension SeededRandom {
  /// Returns whether an event of this probability happens.
  fileprivate mutating func happens(_ probability: Double) -> Bool {
    Double(next() >> 11) < probability * 0x1p53
  }
}
