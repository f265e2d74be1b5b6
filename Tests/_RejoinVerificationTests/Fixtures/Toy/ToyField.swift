// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification

/// A field of a record: a clock and the remaining entries of its saves.
///
/// All kinds share one store, so only one join can have a hazard.
struct ToyField: Hashable {
  /// The remains of a save: a write, an element, or an amount.
  struct Entry: Hashable {
    let dot: Dot
    var time = Timestamp.zero
    var value: Value?
    var amount: WideInt = 0
    /// The saves of the field that the author saw.
    var seen = VectorClock()
  }

  let kind: FieldKind
  var clock = VectorClock()
  /// The entries in the order of their arrival.
  var entries: [Entry] = []
  let hazard: Hazard?

  init(_ kind: FieldKind, _ hazard: Hazard?) {
    (self.kind, self.hazard) = (kind, hazard)
  }

  /// The field with its entries in a defined order.
  var canonical: ToyField {
    var copy = self
    copy.entries.sort {
      ($0.dot, $0.value ?? .null) < ($1.dot, $1.value ?? .null)
    }
    return copy
  }
}

// Reading.
extension ToyField {
  /// The shown write.
  var winner: Entry? {
    entries.reduce(nil) { best, entry in
      guard let best else { return entry }
      return outranks(entry, best) ? entry : best
    }
  }

  func outranks(_ a: Entry, _ b: Entry) -> Bool {
    switch hazard {
    case .clockThenTimeThenDevice where a.seen.contains(b.dot): true
    case .clockThenTimeThenDevice where b.seen.contains(a.dot): false
    case .tiesByArrival: a.time > b.time
    default: (a.time, a.dot) > (b.time, b.dot)
    }
  }

  var elements: Set<Value> { Set(entries.compactMap(\.value)) }
  var count: WideInt { entries.reduce(0) { $0 + $1.amount } }

  /// Whether creating the record again must drop content.
  var hasContent: Bool { !entries.isEmpty }

  var reading: FieldReading {
    var reading = FieldReading()
    switch kind {
    case .register:
      let winner = winner
      reading.value = winner?.value
      reading.author = winner?.dot
      let isUnset = winner?.value != nil && entries.contains { $0.value == nil }
      reading.conflicts =
        (isUnset ? [nil] : [])
        + elements.filter { $0 != winner?.value }.sorted()
    case .counter: reading.count = Int64(clamping: count)
    default: reading.elements = elements.sorted()
    }
    return reading
  }
}

// Joining.
extension ToyField {
  /// Keeps the entries of both sides, and those that the other side did not
  /// see.
  mutating func join(_ other: ToyField, at device: DeviceID) {
    let theirs = other.entries.filter {
      confirms($0) && !entries.contains($0)
    }
    entries = entries.filter { other.confirms($0) } + theirs
    clock.merge(other.clock)
    if kind == .register { prune(at: device) }
  }

  /// Returns whether this side has an entry of the other side, or did not see
  /// it.
  private func confirms(_ entry: Entry) -> Bool {
    entries.contains(entry) || !clock.contains(entry.dot)
      || (hazard == .unionOfDots && kind == .set
        && entries.contains { $0.value == entry.value })
  }

  private mutating func prune(at device: DeviceID) {
    switch hazard {
    case .losingSiblingsPruned: entries = winner.map { [$0] } ?? []
    case .mineWinsOnReceive:
      let mine = entries.filter { $0.dot.device == device }
      if !mine.isEmpty { entries = mine }
    default: break
    }
  }
}
