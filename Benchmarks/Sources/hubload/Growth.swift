// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin

/// Measures the requests of a hub with a number of records in one scope, and
/// the memory of its process.
///
/// The columns of the line are the database, the records, the time of the
/// upload and of a newcomer's transfer in seconds, the parts of the transfer,
/// the median time of a delta of 10 changed records in milliseconds, and the
/// peak memory of the hub in megabytes: at the start, after the upload and at
/// the end. A time is the time of the requests, without the work of the device.
func measureGrowth(_ database: Database, records count: Int) async throws {
  let (hub, device) = (try HubProcess(database), makeReplica())
  _ = try hub.version()
  let atStart = try hub.peakMegabytes()
  try fill(device, records: count)
  let upload = try hub.time { try hub.upload(device) }
  let afterUpload = try hub.peakMegabytes()

  let newcomer = makeReplica()
  var parts = 0
  let transfer = try hub.time {
    while let part = try hub.delta(.part, since: newcomer.version) {
      parts += 1
      guard newcomer.apply(part).hasAdvanced else { break }
    }
  }
  guard newcomer.recordCount(of: Item.self) == count else {
    throw Incomplete(records: newcomer.recordCount(of: Item.self))
  }

  let basis = device.version
  try device.save { transaction in
    for i in 0..<10 {
      transaction[Item.self, key(i * count / 10)].count.increment()
    }
  }
  try hub.upload(device)
  let deltas = try (0..<21).map { _ in
    try hub.time { _ = try hub.delta(.delta, since: basis) }
  }
  printLine([
    database.kind, "\(count)",
    String(format: "%.1f", upload.milliseconds / 1e3),
    String(format: "%.1f", transfer.milliseconds / 1e3), "\(parts)",
    milliseconds(deltas.percentile(50)), String(format: "%.0f", atStart),
    String(format: "%.0f", afterUpload),
    String(format: "%.0f", try hub.peakMegabytes()),
  ])
}

/// The newcomer has only some of the records.
private struct Incomplete: Error { let records: Int }

private func key(_ i: Int) -> String { String(format: "%08d", i) }

/// Creates records with two fields each, 1,000 in a save.
private func fill(_ device: Replica, records count: Int) throws {
  for first in stride(from: 0, to: count, by: 1_000) {
    try device.save { transaction in
      for i in first..<min(first + 1_000, count) {
        let item = transaction[Item.self, key(i)]
        item.title = "Item \(i)"
        item.count.increment(by: Int64(i % 100 + 1))
      }
    }
  }
}

extension HubProcess {
  /// Returns the time of the requests that `body` sends.
  fileprivate func time(_ body: () throws -> Void) rethrows -> Duration {
    let before = waited
    try body()
    return waited - before
  }

  /// Sends the saves that the hub lacks in parts.
  fileprivate func upload(_ device: Replica) throws {
    while let part = try device.delta(since: version(), byteLimit: partBytes) {
      try send(.apply, part.encoded())
    }
  }
}
