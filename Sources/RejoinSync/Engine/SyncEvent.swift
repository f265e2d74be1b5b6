// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The start or the end of a part of a pass.
///
///     for await event in engine.events where event.end != nil {
///       print("\(event.kind): \(event.records) records, \(event.bytes) bytes")
///     }
///
/// Each event starts and ends once, also if the pass fails or is canceled. Both have
/// the same ID. When ``SyncEngine/sync()`` returns, each event of its pass has ended.
public struct SyncEvent: Identifiable, Sendable {
  /// The kind of an event.
  public enum Kind: Hashable, Sendable {
    /// The first exchange of a route after a launch, repeated until the route answers.
    case setup
    /// The parts that the route sent.
    case `import`
    /// The parts that the store sent.
    case export
  }

  private static let count = Locked<UInt64>(0)

  /// The ID, which the start and the end share and no other event of the process has.
  public let id: UInt64
  /// The kind of the event.
  public let kind: Kind
  /// The name of the route.
  public let route: String
  /// The time of the start, in milliseconds since 1970.
  public let start: Int64
  /// The time of the end, or `nil` at the start.
  public internal(set) var end: Int64?
  /// The error that ended the pass, or `nil`.
  public internal(set) var error: (any Error)?
  /// The number of records in the parts so far.
  public internal(set) var records = 0
  /// The number of bytes in the messages with the parts so far.
  public internal(set) var bytes = 0

  init(kind: Kind, route: String, start: Int64) {
    id = SyncEvent.count.withLock { count in
      count += 1
      return count
    }
    (self.kind, self.route, self.start) = (kind, route, start)
  }
}
