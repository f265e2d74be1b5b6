// SPDX-License-Identifier: Apache-2.0

/// A source of the wall-clock time, which the app provides.
///
///     import Foundation
///
///     extension WallClock {
///       static let system = WallClock {
///         Int64(Date().timeIntervalSince1970 * 1000)
///       }
///     }
public struct WallClock: Sendable {
  private let read: @Sendable () -> Int64

  /// Creates a clock from a closure that returns milliseconds since 1970.
  public init(_ read: @escaping @Sendable () -> Int64) { self.read = read }

  /// The current time in milliseconds since 1970.
  public var now: Int64 { read() }
}
