//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

extension ReplicaClock {
  /// Reads a clock, as another replica sent it to be told what it lacks.
  ///
  /// - Throws: ``WireError``, with the place and what should have been there.
  /// - Complexity: O(*n*) for *n* bytes.
  public init(
    decoding bytes: some Sequence<UInt8>
  ) throws(WireError) {
    self = try withBytes(of: bytes) { bytes throws(WireError) in
      try ReplicaClock(reading: bytes)
    }
  }

  private init(
    reading bytes: UnsafeRawBufferPointer
  ) throws(WireError) {
    self.init()
    var reader = try WireReader(opening: bytes, as: [.replicaClock])
    let count = try reader.count(of: 12)
    var times = TimeChain()
    var previous: DeviceID?
    for _ in 0..<count {
      let device = try reader.device(after: previous)
      previous = device
      let n = try reader.number()
      let start = reader.offset
      let time = try times.read(from: &reader)
      guard time != 0 else {
        throw reader.error(.notCanonical, "no time", at: start)
      }
      insert(
        Save(
          n: n, time: Timestamp(rawValue: time ?? 0),
          digest: try reader.fixed()),
        of: device)
    }
    try reader.finish()
  }

  /// The clock as bytes: about twelve for each device beyond the 16 of its name.
  public func encoded() -> [UInt8] {
    var writer = WireWriter(.replicaClock)
    writer.varint(vector.entries.count)
    var times = TimeChain()
    var previous: DeviceID?
    for entry in vector.entries {
      let save = self[entry.device]
      writer.device(entry.device, after: previous)
      previous = entry.device
      writer.varint(save.n)
      times.write(save.time == .zero ? nil : save.time.rawValue, to: &writer)
      writer.fixed(save.digest)
    }
    return writer.sealed()
  }
}
