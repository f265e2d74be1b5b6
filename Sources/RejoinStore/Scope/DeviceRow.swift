// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// A row of `rejoin_device`.
struct DeviceRow {
  let number: Int64
  let device: DeviceID
  let save: DeviceSave

  /// The columns that ``init(_:)`` reads.
  ///
  /// The fifth is not read, so that a query can return the row of a scope and
  /// the rows of its devices.
  static let columns = "device, id, n, time, id, digest, forked, row_check"

  /// Creates the row that a query read.
  init(_ row: any SQLRow) throws {
    number = row.integer(0)
    let save = DeviceSave(
      sequence: row.bits(2), time: Timestamp(rawValue: row.bits(3)),
      digest: row.bits(5), isForked: row.integer(6) != 0)
    guard let device = row.withBytes(1, { DeviceID(raw: $0) }),
      save.check(of: device) == row.integer(7)
    else {
      throw StoreError.damaged("in row \(number) of the devices")
    }
    (self.device, self.save) = (device, save)
  }

  /// Adds the saves of all devices of a scope to an assembly.
  ///
  /// - Returns: The number of each device's row.
  static func add(
    _ rows: [DeviceRow], of scope: ScopeRow, to assembly: inout StoredAssembly
  ) throws -> [DeviceID: Int64] {
    guard rows.count == scope.devices else {
      throw StoreError.damaged(
        "with \(rows.count) rows of devices instead of \(scope.devices)")
    }
    var numbers: [DeviceID: Int64] = [:]
    numbers.reserveCapacity(rows.count)
    for row in rows {
      assembly.add(row.save, of: row.device)
      numbers[row.device] = row.number
    }
    return numbers
  }
}

extension DeviceSave {
  /// The check of the row that contains this save.
  func check(of device: DeviceID) -> Int64 {
    // A version can have many devices, so allocate no memory.
    let words = (
      sequence.littleEndian, time.rawValue.littleEndian, digest.littleEndian,
      UInt64(isForked ? 1 : 0).littleEndian, UInt64(16).littleEndian,
      device.high.bigEndian, device.low.bigEndian
    )
    return withUnsafeBytes(of: words) { Int64(WireChecksum.of($0)) }
  }
}

extension DeviceID {
  /// - Returns: The device ID, or `nil` if `bytes` does not have 16 bytes.
  init?(raw bytes: UnsafeRawBufferPointer) {
    guard bytes.count == 16 else { return nil }
    self.init(
      high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
      low: UInt64(
        bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }
}
