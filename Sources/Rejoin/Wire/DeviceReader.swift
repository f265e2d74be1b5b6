// SPDX-License-Identifier: Apache-2.0

/// Reads the devices of a validated message, to make the clock of everything in
/// it.
struct DeviceReader {
  private let reader: WireReader
  /// The greatest sequence number of each device that any field has seen.
  private let latest: [UInt64]

  init(_ reader: WireReader, _ latest: [UInt64]) {
    (self.reader, self.latest) = (reader, latest)
  }

  /// The clock of all saves that any field has seen.
  func clock() throws(WireError) -> VectorClock {
    var (reader, scan) = (reader, DeviceScan(count: latest.count))
    var entries: [VectorClock.Entry] = []
    entries.reserveCapacity(latest.count)
    for n in latest {
      guard let block = try scan.next(from: &reader) else { break }
      for _ in 0..<block.count { _ = try scan.time(from: &reader) }
      if n > 0 { entries.append(.init(device: block.device, count: n)) }
    }
    return VectorClock(sorted: entries)
  }
}
