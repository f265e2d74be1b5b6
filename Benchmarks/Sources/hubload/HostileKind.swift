// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// An attack on a scope.
enum HostileKind: String, CaseIterable {
  case records, devices, text, unplaced, refused, set, keys, flood, neighbor

  var title: String {
    switch self {
    case .records: "one delta of 1e6 records"
    case .devices: "one delta of 1e5 devices"
    case .text: "a text of 15 MB, and then increments in its record"
    case .unplaced: "500 deltas of 48 kB without intervals"
    case .refused: "the same with intervals, refused by the check"
    case .set: "a set of 1e5 elements, and then single elements"
    case .keys: "500 records with keys of 3,000 bytes"
    case .flood: "deltas of 2,000 records"
    case .neighbor: "the same in another scope"
    }
  }

  /// Returns the messages of the attack in their order.
  ///
  /// - Parameter fraction: The divisor of the sizes.
  func messages(fraction: Int) throws -> [[UInt8]] {
    let attacker = Attacker()
    switch self {
    case .records:
      return [
        try attacker.save { transaction in
          for i in 0..<(1_000_000 / fraction) {
            transaction.ensureExists(Attacker.id(i))
          }
        }
      ]
    case .devices: return [try inventedDevices(100_000 / fraction)]
    case .text:
      let text = Attacker.text(15 << 20 / fraction)
      return try [attacker.edit { $0.title = text }]
        + attacker.edits { item, _ in item.count.increment() }
    case .unplaced, .refused:
      // A record takes 24 bytes.
      return try (0..<500).map { i in
        try attacker.save(hasIntervals: self == .refused) { transaction in
          for j in 0..<(2_000 / fraction) {
            transaction[Item.self, "h\(i * 2_000 + j)"].title =
              Attacker.text(20)
          }
        }
      }
    case .set:
      return try [
        attacker.edit { item in
          for i in 0..<(100_000 / fraction) { item.tags.insert("\(i)") }
        }
      ] + attacker.edits { item, i in item.tags.insert("new \(i)") }
    case .keys:
      // The keys are random, because a database compresses others.
      return try (0..<500).map { _ in
        let key = Attacker.text(3_000)
        return try attacker.save { $0[Item.self, key].count.increment() }
      }
    case .flood, .neighbor:
      return try (0..<100).map { _ in
        try attacker.save { transaction in
          for i in 0..<(2_000 / fraction) {
            transaction[Item.self, "h\(i)"].count.increment()
          }
        }
      }
    }
  }
}

/// Returns a delta of many devices, which increment a hundredth as many
/// counters.
private func inventedDevices(_ count: Int) throws -> [UInt8] {
  let all = makeReplica()
  for record in 0..<max(count / 100, 1) {
    let some = makeReplica()
    for _ in 0..<min(count, 100) {
      let device = makeReplica()
      try device.save { $0[Item.self, "h\(record)"].count.increment() }
      some.merge(device)
    }
    if let delta = some.delta() { all.apply(delta, reporting: .faults) }
  }
  return all.delta()?.encoded() ?? []
}

/// A device that makes hostile saves.
private final class Attacker {
  private let replica = makeReplica()

  /// Makes a save.
  ///
  /// - Returns: The bytes of its delta.
  func save(
    hasIntervals: Bool = true, _ body: (Transaction) -> Void
  ) throws -> [UInt8] {
    let basis = replica.version
    try replica.save(body)
    guard let delta = replica.delta(since: basis) else { return [] }
    return hasIntervals ? delta.encoded() : Delta(delta.changes).encoded()
  }

  func edit(_ body: (RecordEditor<Item>) -> Void) throws -> [UInt8] {
    try save { body($0[Item.self, "hostile"]) }
  }

  /// Makes more edits of one record than an attack sends.
  func edits(
    _ body: (RecordEditor<Item>, Int) -> Void
  ) throws -> [[UInt8]] {
    try (0..<2_000).map { i in try edit { body($0, i) } }
  }

  static func id(_ i: Int) -> RecordID { RecordID("Item", "h\(i)") }

  /// Returns a random text, which a database cannot compress much.
  static func text(_ count: Int) -> String {
    var random = SystemRandomNumberGenerator()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
      let number = random.next()
      for shift in stride(from: 0, to: 64, by: 8) {
        bytes.append(UInt8(48 + (number >> UInt64(shift)) & 63))
      }
    }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}
