// SPDX-License-Identifier: Apache-2.0

/// The gap between two neighbors, in which a device makes a position.
///
/// A new position is a beginning of a neighbor, and a level below it. The level is at the
/// first depth where it fits, so the steps of a device continue each other, and what it
/// inserts at one place stays together.
struct PositionGap {
  private enum Side { case left, right }

  private let origin: Position.Origin
  /// The left neighbor, or nothing at the start of the list.
  private let left: UnsafeBufferPointer<UInt8>
  /// The right neighbor, or nothing at the end of the list.
  private let right: UnsafeBufferPointer<UInt8>
  /// The number of first bytes that both neighbors have in common.
  private let common: Int

  init(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>,
    _ origin: Position.Origin
  ) {
    (self.origin, self.left) = (origin, left)
    var common = 0
    while common < left.count, common < right.count,
      left[common] == right[common]
    {
      common += 1
    }
    self.common = common
    let isGap =
      common < right.count
      && (common == left.count || left[common] < right[common])
    self.right = isGap ? right : UnsafeBufferPointer(rebasing: right[..<0])
  }

  /// Makes a position.
  func position() -> [UInt8] {
    switch (lastStep(of: left), lastStep(of: right)) {
    case (nil, nil): return bytes(shorter(place(by: .left), place(by: .right)))
    case (_?, nil): return bytes(place(by: .left) ?? place(by: .right))
    case (nil, _?): return bytes(place(by: .right) ?? place(by: .left))
    // The newer one of two own neighbors is where the device inserted last.
    case (let ofLeft?, let ofRight?):
      return ofLeft > ofRight
        ? bytes(place(by: .left) ?? place(by: .right))
        : bytes(place(by: .right) ?? place(by: .left))
    }
  }

  /// Returns the last step of a neighbor, or `nil` if another device made it.
  private func lastStep(
    of neighbor: UnsafeBufferPointer<UInt8>
  ) -> (save: UInt64, count: UInt64)? {
    var own: Int?
    var last: PositionLevels.Level?
    for level in PositionLevels(neighbor) {
      if level.newTag == origin.tag { own = level.device }
      last = level
    }
    return last.flatMap { $0.device == own ? ($0.save, $0.count) : nil }
  }
}

// Places for a level.
extension PositionGap {
  /// A beginning of a neighbor, and a level below it.
  private struct Place {
    let neighbor: UnsafeBufferPointer<UInt8>
    /// The length of the beginning.
    let start: Int
    let level: OwnLevel

    var count: Int { start + level.count }
  }

  private func shorter(_ one: Place?, _ other: Place?) -> Place? {
    guard let one, let other else { return one ?? other }
    return other.count < one.count ? other : one
  }

  /// Returns the position at a place, or the first one of a list.
  private func bytes(_ place: Place?) -> [UInt8] {
    let place =
      place
      ?? Place(
        neighbor: left, start: 0, level: OwnLevel(origin, isLeft: false))
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: place.count)
    {
      _ = $0.initialize(fromContentsOf: place.neighbor[..<place.start])
      // Positions to the left of another one begin with it, except for its last bit.
      if place.level.isLeft, place.start == place.neighbor.count {
        $0[place.start - 1] &= ~1
      }
      place.level.write(to: $0, at: place.start)
      return Array(UnsafeBufferPointer($0))
    }
  }

  /// Returns the place next to a neighbor, or `nil` if a level fits nowhere.
  private func place(by side: Side) -> Place? {
    let neighbor = side == .left ? left : right
    if neighbor.isEmpty { return nil }
    var own = OwnLevel(origin, isLeft: side == .right)
    for level in PositionLevels(neighbor) {
      // A step over an own level of the other side could leap over items that were
      // removed here, and that other devices still have.
      let isOther = own.isSameDevice(as: level) && level.isLeft != own.isLeft
      if !isOther, fits(own, at: level.start, of: side) {
        return Place(neighbor: neighbor, start: level.start, level: own)
      }
      own.descend(past: level)
    }
    return fitsBelow(own, side)
      ? Place(neighbor: neighbor, start: neighbor.count, level: own) : nil
  }

  /// Returns whether a beginning of a neighbor with an own level is between both
  /// neighbors.
  private func fits(_ own: OwnLevel, at start: Int, of side: Side) -> Bool {
    // Behind what both have in common, a neighbor and the new position are on the same
    // side of the other one.
    let isRightOfLeft =
      side == .right && start > common || own.compare(to: left, from: start) > 0
    let isLeftOfRight =
      side == .left && start > common || right.isEmpty
      || own.compare(to: right, from: start) < 0
    return isRightOfLeft && isLeftOfRight
  }

  /// Returns whether a neighbor with an own level below it is on the right side of the
  /// other neighbor.
  private func fitsBelow(_ own: OwnLevel, _ side: Side) -> Bool {
    switch side {
    case .left:
      return common < left.count || right.isEmpty
        || own.compare(to: right, from: common) < 0
    case .right:
      let last = right.count - 1
      return common < last || left.count == last
        || left[last] < right[last] & ~1
        || own.compare(to: left, from: last + 1) > 0
    }
  }
}
