// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The last answer of a route, which a store keeps and may lose.
package struct RouteNote {
  /// The name of the scope, as the peer knows it.
  package let scope: String
  /// The version that the route showed last.
  package let shown: ReplicaVersion
  /// The time of the last pass without an error, in milliseconds since 1970.
  package let lastSynced: Int64?

  init(scope: String, shown: ReplicaVersion, lastSynced: Int64?) {
    (self.scope, self.shown, self.lastSynced) = (scope, shown, lastSynced)
  }

  /// Decodes a note, or returns `nil` if it is of another build.
  package init?(decoding bytes: [UInt8]) {
    // An object has what a note needs: a scope, a version and a number.
    guard let message = try? SyncMessage(decoding: bytes),
      message.kind == .object, let shown = message.version
    else { return nil }
    (scope, self.shown) = (message.scope, shown)
    lastSynced = message.byteLimit == 1 ? nil : Int64(message.byteLimit)
  }

  func encoded() -> [UInt8] {
    var message = SyncMessage(.object, scope: scope)
    (message.device, message.version) = (DeviceID(0), shown)
    message.byteLimit = lastSynced.map { max(Int($0), 1) } ?? 1
    return message.encoded()
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
