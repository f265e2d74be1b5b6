// SPDX-License-Identifier: Apache-2.0
import Rejoin

// Transfers in parts.
extension World {
  /// Counts the effects of a part.
  mutating func count(
    _ parts: PartCounts, of letter: Letter, _ receipt: MessageReceipt,
    since before: OracleReplica, at i: Int
  ) {
    counts.parts += parts
    let forked = before.prefixes.keys.filter(receipt.forked.contains)
    counts.parts.forks += forked.count
    guard let range = letter.model.range else { return }
    let copied = letter.model.intervals.keys.filter(suspects.contains)
    if !copied.isEmpty {
      counts.parts.copies += 1
      counts.parts.relayedCopies += copied.contains(range.sender) ? 0 : 1
    }
    if !peers[i].parts.insert(letter.message).inserted {
      counts.parts.doubled += 1
    }
    if peers[i].isInEarlierTransfer {
      counts.parts.restores += 1
      peers[i].isInEarlierTransfer = false
    }
  }

  /// Copies the prefixes of a replica, because the oracle does not know which
  /// forks the replica detected.
  mutating func takePrefixes(of i: Int, since before: OracleReplica) {
    let known = peers[i].model.prefixes
    var prefixes = [DeviceID: OraclePrefix](peers[i].replica.version)
    for device in prefixes.keys {
      let sender = (known[device] ?? before.prefixes[device])?.sender
      if let sender { prefixes[device]?.sender = sender }
    }
    peers[i].model.knowledge.prefixes = prefixes
  }

  /// The number of records that a device can have, with those of the library.
  var partLimit: Int { universe.records.count + 4 * peers.count + 8 }

  /// Checks that a transfer in parts ends and has the effect of a single delta.
  func checkParts(from i: Int, to j: Int) throws(ScriptMismatch) {
    guard suspects.isEmpty, !peers[i].model.isAhead else { return }
    let (sender, now) = (peers[i].replica, peers[j].now)
    var (one, other) = (peers[j].replica.copy(), peers[j].replica.copy())
    if let news = sender.message(since: one.version) {
      _ = one.apply(news, now: now)
    }
    // A prefix, own saves and those of others each contain a record once.
    var count = 3 * partLimit
    while let part = sender.part(since: other.version, byteLimit: 1) {
      count -= 1
      let part = try Replica.arrival(of: part)
      if count < 0 || !other.apply(part, now: now).hasAdvanced {
        throw ScriptMismatch(
          "the transfer in parts from \(name(i)) to \(name(j)) does not end")
      }
    }
    try agree(
      "a transfer in parts from \(name(i)) to \(name(j))",
      one.contents == other.contents, true)
  }
}

extension [DeviceID: OraclePrefix] {
  /// Creates the prefixes of a version, without their senders.
  init(_ version: ReplicaVersion) {
    self.init()
    for prefix in version.prefixes {
      for (device, save) in prefix.saves.entries {
        self[device] = OraclePrefix(
          through: prefix.through,
          save: .init(from: 0, to: save.sequence, time: save.time),
          sender: device)
      }
    }
  }

  /// A description for comparison with the prefixes of a replica.
  var text: String {
    map { "\($0): \($1.save.to) through \($1.through)" }.sorted()
      .joined(separator: ", ")
  }
}
