// SPDX-License-Identifier: Apache-2.0

import CAllocations
import Harness
import Rejoin

extension Suite {
  /// Adds loads of an empty replica, in parts and in one delta: W22.
  mutating func addTransfers() {
    for size in [25_000, 50_000, 100_000] {
      addLoad("as one delta", size, limit: .max)
      addLoad("in parts of 256 kB", size, limit: 256_000)
    }
    for (name, limit) in [("64 kB", 64_000), ("1 MB", 1_000_000)] {
      addLoad("in parts of \(name)", 100_000, limit: limit)
    }
    for (small, large) in [(25_000, 50_000), (50_000, 100_000)] {
      addGrowth(
        of: "W22", "a load, in parts of 256 kB", from: small, to: large,
        target: 1.3)
    }
    addOverhead()
    addCuts()
    for size in [25_000, 100_000] { addMemory(size) }
  }

  /// Sends all records to an empty replica as bytes.
  private mutating func addLoad(_ how: String, _ size: Int, limit: Int) {
    add("W22", "a load, \(how)", size: size, per: "record") { scale in
      let source = try Dataset(records: scale(size)).replica()
      let count = source.recordCount(of: "Item")
      return Work(
        operations: count, expecting: count,
        setUp: { Dataset.emptyReplica(2) }
      ) { receiver in
        try load(receiver, from: source, limit: limit)
        return receiver.recordCount(of: "Item")
      }
    }
  }

  /// The bytes of all parts, for each 100 bytes of one delta.
  private mutating func addOverhead() {
    for (name, limit) in [("64 kB", 64_000), ("256 kB", 256_000)] {
      addBytes(
        "W22", "100 bytes of a load, in parts of \(name)", target: 150
      ) { scale in
        let source = try Dataset(records: scale(100_000)).replica()
        let sent = try load(
          Dataset.emptyReplica(2), from: source, limit: limit)
        return sent * 100 / (source.delta()?.encoded().count ?? 1)
      }
    }
  }

  /// The bytes of a load that two senders take in turn, since the connection is cut
  /// 200 times at a byte that looks random, for each 100 bytes of one delta.
  private mutating func addCuts() {
    addBytes("W22", "100 bytes of a load, cut 200 times", target: 150) {
      scale in
      let source = try Dataset(records: scale(100_000)).replica()
      let whole = source.delta()?.encoded().count ?? 1
      let other = Dataset.emptyReplica(3)
      if let delta = source.delta() { other.apply(delta, reporting: .faults) }
      let receiver = Dataset.emptyReplica(2)
      let cuts = Dataset.order(scale(200), below: whole).sorted()
      var (sent, count) = (0, 0)
      var senders = [source, other]
      while let delta = senders[0].delta(
        since: receiver.version, byteLimit: min(32_000, max(whole / 800, 1)))
      {
        let bytes = delta.encoded()
        if count < cuts.count, cuts[count] < sent + bytes.count {
          // The connection loses the first bytes of this part.
          sent = max(cuts[count], sent)
          count += 1
          senders.swapAt(0, 1)
          continue
        }
        sent += bytes.count
        receiver.apply(try Delta(decoding: bytes), reporting: .faults)
      }
      guard receiver.delta() == source.delta() else {
        throw HarnessError("the load did not end")
      }
      return sent * 100 / whole
    }
  }

  /// Adds the memory while a part is created and applied, in addition to the
  /// memory afterwards.
  private mutating func addMemory(_ size: Int) {
    addBytes(
      "W22", "memory at most for 100 bytes of a part that is made", size: size
    ) { scale in
      let (source, limit) = (
        try Dataset(records: scale(size)).replica(), scale(256_000)
      )
      let receiver = Dataset.emptyReplica(2)
      try load(receiver, from: source, limit: limit, parts: 2)
      return try peak { () throws in
        source.delta(since: receiver.version, byteLimit: limit)?
          .encoded().count ?? 0
      }
    }
    addBytes(
      "W22", "memory at most for 100 bytes of a part that is applied",
      size: size
    ) { scale in
      let (source, limit) = (
        try Dataset(records: scale(size)).replica(), scale(256_000)
      )
      let receiver = Dataset.emptyReplica(2)
      try load(receiver, from: source, limit: limit, parts: 2)
      let part = source.delta(since: receiver.version, byteLimit: limit)
      let bytes = part?.encoded() ?? []
      return try peak {
        receiver.apply(try Delta(decoding: bytes), reporting: .faults)
        return bytes.count
      }
    }
  }
}

/// Sends all parts.
///
/// - Parameter parts: The maximum number of parts.
/// - Returns: The number of bytes.
@discardableResult
private func load(
  _ receiver: Replica, from source: Replica, limit: Int, parts: Int = .max
) throws -> Int {
  var (sent, count) = (0, 0)
  while count < parts,
    let delta = limit == .max
      ? source.delta(since: receiver.version)
      : source.delta(since: receiver.version, byteLimit: limit)
  {
    let bytes = delta.encoded()
    receiver.apply(try Delta(decoding: bytes), reporting: .faults)
    (sent, count) = (sent + bytes.count, count + 1)
  }
  return sent
}

/// Returns the peak memory for each 100 bytes.
private func peak(_ body: () throws -> Int) throws -> Int {
  watch_peak()
  let bytes = try body()
  let peak = Int(watched_peak())
  guard bytes > 0, peak > 0 else {
    throw HarnessError("the system does not tell how much memory is in use")
  }
  return peak * 100 / bytes
}
