// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The last answer of a route, which a store keeps and may lose.
package struct RouteNote {
  /// The version that the route showed last.
  package let shown: ReplicaVersion
  /// The time of the last pass without an error, in milliseconds since 1970.
  package let lastSynced: Int64?

  init(shown: ReplicaVersion, lastSynced: Int64?) {
    (self.shown, self.lastSynced) = (shown, lastSynced)
  }

  /// Decodes a note, or returns `nil` if it is of another version.
  package init?(decoding bytes: [UInt8]) {
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

extension RouteNote {
  private static let prefix = "route "

  /// Returns the name of the note about a route.
  static func name(ofRoute route: String) -> String { prefix + route }

  /// Returns the name of the route that a note is about, or `nil`.
  package static func route(ofNote name: String) -> String? {
    name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
  }
}
