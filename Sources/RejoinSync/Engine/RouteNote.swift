// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a store keeps about a route, and may lose.
struct RouteNote {
  let shown: ReplicaVersion
  /// The time of the last pass without an error, in milliseconds since 1970.
  let lastSynced: Int64?

  init(shown: ReplicaVersion, lastSynced: Int64?) {
    (self.shown, self.lastSynced) = (shown, lastSynced)
  }

  /// Decodes a note, or returns `nil` if it is of another version.
  init?(decoding bytes: [UInt8]) {
    guard bytes.count > 8,
      let shown = try? ReplicaVersion(decoding: Array(bytes[8...]))
    else { return nil }
    let time = bytes[..<8].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    self.init(
      shown: shown, lastSynced: time == 0 ? nil : Int64(bitPattern: time))
  }

  func encoded() -> [UInt8] {
    let time = UInt64(bitPattern: lastSynced ?? 0)
    return (0..<8).map { UInt8(truncatingIfNeeded: time >> (56 - 8 * $0)) }
      + shown.encoded()
  }
}

extension SyncRoute {
  /// The name of the note about this route.
  var noteName: String { "route " + name }
}
