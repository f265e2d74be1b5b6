// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL
import RejoinStore

/// A hub that lets a client write in the name of one device only.
public final class GuardedHub {
  private struct Refused: Error {}

  private let connection: SQLiteConnection
  private let hub: HubConnection
  private let base: Delta
  /// The number of the scope, which changes after each accepted offer.
  private var scope = 0

  /// Creates a hub that holds the saves of a delta.
  public init(holding base: Delta) {
    self.base = base
    let device = DeviceID(high: .max, low: 0x6775)
    do {
      connection = try SQLiteConnection(opening: ":memory:")
      hub = try HubConnection(
        connection, patching: .forTesting, makeDeviceID: { device })
    } catch { preconditionFailure("a hub could not be created: \(error)") }
    begin()
  }

  private func begin() {
    do { try hub.eraseScope("\(scope)") } catch {
      preconditionFailure("the scope could not be erased: \(error)")
    }
    scope += 1
    _ = offer(base) { _ in true }
  }

  /// The fields and the saves that the hub holds.
  public var content: (delta: Delta?, version: ReplicaVersion) {
    do {
      // Read the rows, because a hub sends fields ahead of the version only in
      // parts.
      let state = try StoredScope.read("\(scope)", on: connection)
      let replica = state.map {
        Replica(
          resuming: $0, schema: [], wallClock: WallClock { 0 },
          makeDeviceID: { DeviceID(0) })
      }
      return (replica?.delta(), try hub.version(of: "\(scope)"))
    } catch { preconditionFailure("the hub could not be read: \(error)") }
  }

  /// Offers a message from a client that may write as one device.
  ///
  /// An accepted message does not affect later offers.
  ///
  /// - Returns: The content of the hub afterward, or `nil` if the hub refused
  ///   the message.
  public func offer(
    _ delta: Delta, as device: DeviceID
  ) -> (delta: Delta?, version: ReplicaVersion)? {
    guard offer(delta, allowing: { $0.devices.isSubset(of: [device]) }) else {
      return nil
    }
    let content = content
    begin()
    return content
  }

  private func offer(
    _ delta: Delta, allowing isAllowed: @escaping @Sendable (Hub.Write) -> Bool
  ) -> Bool {
    do {
      _ = try hub.make(
        .join(delta) { if !isAllowed($0) { throw Refused() } }, in: "\(scope)")
      return true
    } catch is Refused {
      return false
    } catch { preconditionFailure("the hub failed: \(error)") }
  }
}
