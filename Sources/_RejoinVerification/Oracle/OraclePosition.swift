// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A position by its definition, without regard to speed.
///
/// It keeps the levels of a key apart, and tries each key as a whole.
struct OraclePosition: Equatable {
  private struct Level: Equatable {
    var name: [UInt8]
    var tag: [UInt8]
    var isRight: Bool
    var save: UInt64
    var count: UInt64
    /// Whether the levels below are to the left of this one.
    var isFlipped = false

    var bytes: [UInt8] {
      let numbers =
        Self.number(save) + Self.number(2 * count + (isRight ? 1 : 0))
      var bytes = name + (isRight ? numbers : numbers.map { 255 - $0 })
      if isFlipped { bytes[bytes.count - 1] -= 1 }
      return bytes
    }

    /// Returns a number whose first three bits after the highest one are the number of
    /// further bytes.
    static func number(_ number: UInt64) -> [UInt8] {
      var rest = number
      var bytes: [UInt8] = []
      while rest >= 16 {
        bytes.insert(UInt8(rest % 256), at: 0)
        rest /= 256
      }
      // Four bits are left in the first byte.
      return [128 + 16 * UInt8(bytes.count) + UInt8(rest)] + bytes
    }
  }

  private var levels: [Level]

  /// The key.
  var bytes: [UInt8] { levels.flatMap(\.bytes) }

  var value: Value { .bytes(bytes) }

  private init(_ levels: [Level]) { self.levels = levels }

  /// Reads a key, or returns `nil` if the value is not one.
  init?(_ value: Value?) {
    guard case .bytes(let bytes)? = value, bytes.count <= 1024 else {
      return nil
    }
    levels = []
    var rest = bytes[...]
    while !rest.isEmpty {
      guard let level = Self.level(&rest, below: levels) else { return nil }
      levels.append(level)
    }
    // Another form of the same levels is no key.
    if levels.isEmpty || levels.last?.isFlipped == true || self.bytes != bytes {
      return nil
    }
  }

  private static func level(
    _ rest: inout ArraySlice<UInt8>, below levels: [Level]
  ) -> Level? {
    let tags = Self.tags(of: levels)
    let tag: [UInt8]
    if levels.isEmpty {
      tag = Array(rest.prefix(6))
      rest = rest.dropFirst(6)
    } else if rest.first == 255 {
      tag = Array(rest.dropFirst().prefix(6))
      rest = rest.dropFirst(7)
    } else {
      guard let index = rest.popFirst().map(Int.init), index < tags.count else {
        return nil
      }
      tag = tags[index]
    }
    guard tag.count == 6, let first = rest.first else { return nil }
    func number() -> UInt64? {
      guard let first = rest.popFirst() else { return nil }
      let head = isRight ? first : 255 - first
      let size = Int(head) / 16 - 8
      guard size >= 0, rest.count >= size else { return nil }
      defer { rest = rest.dropFirst(size) }
      return rest.prefix(size).reduce(UInt64(head % 16)) {
        $0 * 256 + UInt64(isRight ? $1 : 255 - $1)
      }
    }
    let isRight = first >= 128
    guard let save = number(), let last = number() else { return nil }
    return Level(
      name: name(tag, below: levels), tag: tag, isRight: isRight, save: save,
      count: last / 2, isFlipped: last % 2 != (isRight ? 1 : 0))
  }

  private static func tags(of levels: [Level]) -> [[UInt8]] {
    levels.map(\.tag).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  private static func name(_ tag: [UInt8], below levels: [Level]) -> [UInt8] {
    if levels.isEmpty { return tag }
    let index = tags(of: levels).prefix(255).firstIndex(of: tag)
    return index.map { [UInt8($0)] } ?? [255] + tag
  }

  private static func tag(of device: DeviceID) -> [UInt8] {
    var digest = Digest()
    digest.add(device.high)
    digest.add(device.low)
    return (2..<8).reversed().map {
      UInt8(digest.value >> (8 * UInt64($0)) & 255)
    }
  }
}

extension OraclePosition {
  /// Returns the position that a save makes between two others.
  static func between(
    _ left: OraclePosition?, _ right: OraclePosition?, at dot: Dot, count: Int
  ) -> OraclePosition {
    var right = right
    if let left, let other = right, !(left < other) { right = nil }
    let maker = Maker(
      left: left, right: right, tag: tag(of: dot.device), save: dot.sequence,
      count: UInt64(count))
    let neighbors = [(left, true), (right, false)].compactMap { key, isRight in
      key.map { (key: $0, isRight: isRight) }
    }
    let own = neighbors.filter { $0.key.levels.last?.tag == maker.tag }
      .sorted { one, other in
        let (a, b) = (one.key.levels.last!, other.key.levels.last!)
        return (a.save, a.count) != (b.save, b.count)
          ? (a.save, a.count) > (b.save, b.count) : !one.isRight
      }
    if let newest = own.first {
      let other = neighbors.filter { $0.isRight != newest.isRight }
      return ([newest] + other).compactMap(maker.attached).first!
    }
    let keys = neighbors.compactMap(maker.attached)
    return keys.min { $0.bytes.count < $1.bytes.count }
      ?? OraclePosition([maker.level(isRight: true, below: [])])
  }

  static func < (a: OraclePosition, b: OraclePosition) -> Bool {
    a.bytes.lexicographicallyPrecedes(b.bytes)
  }

  private struct Maker {
    let left: OraclePosition?
    let right: OraclePosition?
    let tag: [UInt8]
    let save: UInt64
    let count: UInt64

    func level(isRight: Bool, below levels: [Level]) -> Level {
      Level(
        name: OraclePosition.name(tag, below: levels), tag: tag,
        isRight: isRight, save: save, count: count)
    }

    func attached(
      to neighbor: (key: OraclePosition, isRight: Bool)
    ) -> OraclePosition? {
      let levels = neighbor.key.levels
      for (depth, level) in levels.enumerated()
      where level.tag != tag || level.isRight == neighbor.isRight {
        let above = Array(levels[..<depth])
        let key = OraclePosition(
          above + [self.level(isRight: neighbor.isRight, below: above)])
        if fits(key) { return key }
      }
      var above = levels
      if !neighbor.isRight { above[above.count - 1].isFlipped = true }
      let key = OraclePosition(
        above + [level(isRight: neighbor.isRight, below: above)])
      return fits(key) ? key : nil
    }

    private func fits(_ key: OraclePosition) -> Bool {
      (left.map { $0 < key } ?? true) && (right.map { key < $0 } ?? true)
    }
  }
}

extension [ScriptVerb] {
  /// Returns the verbs with a write of the new position instead of each move.
  ///
  /// - Parameters:
  ///   - dot: The dot of the save.
  ///   - moves: How many positions the save has made.
  ///   - shown: A closure that returns the value that a register shows before the save.
  public func placed(
    at dot: Dot, _ moves: inout Int, _ shown: (FieldLocation) -> Value?
  ) -> [ScriptVerb] {
    var made: [FieldLocation: OraclePosition] = [:]
    return map { verb in
      guard case .move(let id, let key, let left, let right) = verb else {
        return verb
      }
      let neighbors = [left, right].map { neighbor in
        neighbor.flatMap { id in
          let location = FieldLocation(record: id, field: key)
          return made[location] ?? OraclePosition(shown(location))
        }
      }
      let new = OraclePosition.between(
        neighbors[0], neighbors[1], at: dot, count: moves)
      moves += 1
      made[FieldLocation(record: id, field: key)] = new
      return .edit(id, key, .write(new.value))
    }
  }
}
