// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension Hub {
  /// The limits of the requests and scopes of a hub.
  ///
  ///     var limits = Hub.Limits()
  ///     limits.devicesPerScope = 1_000
  ///     let hub = try await Hub(limits: limits) {
  ///       try PostgreSQLConnection("dbname=notes")
  ///     }
  ///
  /// A request that exceeds a limit throws a ``StoreError`` and changes nothing.
  public struct Limits: Hashable, Sendable {
    /// The maximum number of records in a delta.
    ///
    /// The changes of a scope happen one after another, so the limit bounds how
    /// long one delta delays others. The default is 2,000. A part from
    /// `delta(since:byteLimit:)` never has more records.
    public var recordsPerDelta = Rejoin.Limits.recordsPerPart
    /// The maximum number of devices in a scope.
    ///
    /// A scope keeps every device permanently, even a retired one, and each
    /// request reads them. The default is 10,000.
    public var devicesPerScope = 10_000
    /// The maximum number of bytes in a record that a delta makes larger.
    ///
    /// Above the limit, a hub accepts changes that add at most 4,096 bytes, so
    /// devices can still remove content.
    ///
    /// A device can save records of up to 16 MiB. The default is 32 MiB, because
    /// devices can add to a record concurrently.
    public var bytesPerRecord = 32 << 20

    /// Creates the default limits.
    public init() {}

    /// The maximum number of fields that a hub keeps ahead of a scope's version.
    package static var fieldsAhead: Int { AheadList.fieldLimit }

    /// The maximum number of bytes that a delta adds to a record above the
    /// limit, such as the marks of a deletion.
    static let smallGrowth = 4_096

    /// - Throws: ``StoreError/tooManyRecords(_:limit:)`` or
    ///   ``StoreError/tooManyDevices(limit:)``
    package func check(_ delta: Delta) throws(StoreError) {
      if delta.recordCount > recordsPerDelta {
        throw .tooManyRecords(delta.recordCount, limit: recordsPerDelta)
      }
      if delta.intervals.count > devicesPerScope {
        throw .tooManyDevices(limit: devicesPerScope)
      }
    }
  }
}
