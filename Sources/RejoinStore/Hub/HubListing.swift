// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

extension Hub {
  /// The size and the progress of a scope.
  public struct Scope: Hashable, Sendable {
    /// The name of the scope.
    public let name: String
    /// The number of records, including deleted ones.
    public let records: Int
    /// The number of devices, including retired ones.
    public let devices: Int
    /// The time of the last save, by the clock of its device, or `nil` if the
    /// scope has only imports and incomplete saves.
    public let lastSave: Timestamp?
    /// The devices that hold back the stability cut, each with the time of its
    /// last known save.
    ///
    /// `Replica.awaitedDevices` describes them.
    public let awaitedDevices: [DeviceID: Timestamp]
    /// Whether the scope was erased.
    ///
    /// If an erased scope has records or devices, its erasure is not finished.
    /// Call ``Hub/eraseScope(_:)`` again.
    public let isErased: Bool
  }

  /// Returns the scopes after a name, in the order of their names' bytes.
  ///
  ///     var page = try await hub.scopes()
  ///     while let last = page.last {
  ///       for scope in page { print(scope.name, scope.records) }
  ///       page = try await hub.scopes(after: last.name)
  ///     }
  ///
  /// Erased scopes are listed too.
  ///
  /// - Parameters:
  ///   - name: The name before the first scope, or `nil`, the default, for the
  ///     first page.
  ///   - limit: The maximum number of scopes. The default is 100.
  /// - Returns: The scopes of a page, which shows one state of the database.
  /// - Throws: ``StoreError``
  /// - Complexity: O(*d*), where *d* is the number of devices in the scopes of
  ///   the page.
  public func scopes(
    after name: String? = nil, limit: Int = 100
  ) async throws -> [Scope] {
    demand(limit > 0, "`limit` must be 1 or more, not \(limit)")
    return try await pool.run { try $0.scopes(after: name, limit: limit) }
  }
}

extension HubConnection {
  /// Returns the scopes after a name.
  package func scopes(
    after name: String?, limit: Int
  ) throws(StoreError) -> [Hub.Scope] {
    do {
      return try transactions.reading {
        try ScopeRow.following(
          name.map { Array($0.utf8) }, limit: limit, on: connection
        ).map { row in
          if row.isErased { return Hub.Scope(row) }
          let (rows, state) = try read(row.name) { try $0.readBuiltIn() }
          let devices = rows.devices.keys
          let times = devices.map { state.version[$0].time }
          return Hub.Scope(
            row, lastSave: times.filter { $0 > .zero }.max(),
            awaiting: replica(state).awaitedDevices(counting: devices))
        }
      }
    } catch { throw StoreError(opening: error) }
  }
}

extension Hub.Scope {
  fileprivate init(
    _ row: ScopeRow, lastSave: Timestamp? = nil,
    awaiting devices: [DeviceID: Timestamp] = [:]
  ) {
    name = String(decoding: row.name, as: UTF8.self)
    (records, self.devices) = (
      Int(clamping: row.records), Int(clamping: row.devices)
    )
    (self.lastSave, awaitedDevices) = (lastSave, devices)
    isErased = row.isErased
  }
}
