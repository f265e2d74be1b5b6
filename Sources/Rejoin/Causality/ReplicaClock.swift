//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// What a replica holds every effect of: of each device, its latest save with the
/// time and a digest of all its saves up to there.
///
/// The digests reveal a device name that was used twice: the same number with two
/// histories. They join by union of bits, which is commutative and idempotent, so
/// that every replica that has met both histories agrees.
public struct ReplicaClock: Hashable, Sendable {
  /// The latest save of a device.
  public struct Save: Hashable, Sendable {
    /// Its number.
    public let n: UInt64
    /// Its timestamp.
    public let time: Timestamp
    /// The digest that the device chains over its own saves; zero where it is not
    /// known.
    public let digest: UInt64

    static let none = Save(n: 0, time: .zero, digest: 0)

    /// Whether two saves with one number belong to different histories.
    func contradicts(_ other: Save) -> Bool {
      n == other.n && n > 0 && digest != 0 && other.digest != 0
        && digest != other.digest
    }

    /// The save with a digest that says it has met another history.
    func marked(by other: Save) -> Save {
      Save(n: n, time: time, digest: digest | other.digest)
    }

    func joined(_ other: Save) -> Save {
      if n != other.n { return n < other.n ? other : self }
      return Save(
        n: n, time: max(time, other.time), digest: digest | other.digest)
    }
  }

  private var saves: [DeviceID: Save] = [:]

  /// The numbers alone.
  public private(set) var vector = VectorClock()

  /// Creates the clock that holds nothing.
  public init() {}

  /// Creates a clock from numbers alone, without times and digests.
  public init(_ vector: VectorClock) {
    self.vector = vector
    for entry in vector.entries {
      saves[entry.device] = Save(n: entry.count, time: .zero, digest: 0)
    }
  }

  /// The latest save of a device; its number is zero if there is none.
  public subscript(device: DeviceID) -> Save { saves[device] ?? .none }

  /// Adds a device's latest save.
  mutating func insert(_ save: Save, of device: DeviceID) {
    guard save.n > 0 else { return }
    saves[device] = self[device].joined(save)
    vector.insert(Dot(device, save.n))
  }
}

extension ReplicaClock: Lattice {
  /// Adds what `other` holds.
  public mutating func merge(_ other: ReplicaClock) {
    for (device, save) in other.saves { insert(save, of: device) }
  }
}

extension ReplicaClock: CustomStringConvertible {
  /// The numbers alone.
  public var description: String { vector.description }
}
