// SPDX-License-Identifier: Apache-2.0

/// The start or the end of a part of a pass.
///
/// Each event starts and ends once, also if the pass fails or is canceled. Both have
/// the same ID.
public struct SyncEvent: Identifiable, Sendable {
  /// The kind of an event.
  public enum Kind: Hashable, Sendable {
    /// The first exchange of a route after a launch.
    case setup
    /// Saves of the peer arrive.
    case `import`
    /// Saves of the store are sent.
    case export
  }

  /// The ID, which the start and the end share.
  public let id: UInt64
  /// The kind.
  public let kind: Kind
  /// The name of the route.
  public let route: String
  /// The time of the start, in milliseconds since 1970.
  public let start: Int64
  /// The time of the end, or `nil` at the start.
  public internal(set) var end: Int64?
  /// The error that ended the pass, or `nil`.
  public internal(set) var error: (any Error)?
  /// The number of records so far.
  public internal(set) var records = 0
  /// The number of bytes so far.
  public internal(set) var bytes = 0
}
