// SPDX-License-Identifier: Apache-2.0
import Rejoin

extension World {
  /// Law 5: Replicas with the same saves are equal and have no unseen changes.
  func checkEquality(_ i: Int, _ j: Int) throws(ScriptMismatch) {
    guard suspects.isEmpty, i != j else { return }
    let (s, t) = (peers[i], peers[j])
    guard s.model.clock == t.model.clock, !s.model.isAhead, !t.model.isAhead
    else { return }
    try agree(
      "law 5: \(name(i)) and \(name(j)) are equal",
      s.replica.contents == t.replica.contents, true)
    try agree(
      "law 5: no unseen changes between equals",
      s.replica.message(since: t.replica.version) == nil, true)
  }

  /// Law 4: A delta since the receiver's version has the effect of the full
  /// state.
  func checkDeltaLaw(
    from i: Int, to j: Int
  ) throws(ScriptMismatch) {
    guard suspects.isEmpty, !peers[i].model.isAhead else { return }
    var (one, other) = (peers[j].replica.copy(), peers[j].replica.copy())
    let s = peers[i].replica.copy()
    let news = s.message(since: one.version)
    try checkCovers(i, j, news)
    if let news { _ = one.apply(news, now: peers[j].now) }
    if let all = s.message(since: ReplicaVersion()) {
      _ = other.apply(all, now: peers[j].now)
    }
    try agree(
      "law 4: from \(name(i)) to \(name(j))", one.contents == other.contents,
      true)
  }

  /// Law 4: A replica has the saves of another one if the other one has no saves
  /// for it, except in the range of a prefix.
  private func checkCovers(
    _ i: Int, _ j: Int, _ news: Replica.Message?
  ) throws(ScriptMismatch) {
    let outline = news.map { peers[i].replica.outline(of: $0) }
    let hasSaves = !(outline?.intervals.isEmpty ?? true)
    if peers[j].replica.version.covers(peers[i].replica.version) {
      try agree(
        "\(name(i)) has no saves for \(name(j)), which has them all",
        hasSaves && outline?.range == nil, false)
    } else {
      try agree(
        "\(name(i)) has saves for \(name(j)), which lacks some", hasSaves, true)
    }
  }

  /// Checks that one delta is enough, even if parts of earlier deltas were
  /// lost.
  ///
  /// - Returns: Whether one of the replicas had fields ahead of its version.
  func checkLoop(
    from i: Int, to j: Int
  ) throws(ScriptMismatch) -> Bool {
    let (s, t) = (peers[i].replica, peers[j].replica)
    if s.version.fieldsAhead.isEmpty, t.version.fieldsAhead.isEmpty {
      return false
    }
    let news = s.message(since: t.version)
    try checkCovers(i, j, news)
    guard let first = news else { return true }
    var copy = t.copy()
    _ = copy.apply(
      try Replica.arrival(of: first), now: peers[j].now)
    let again = s.message(since: copy.version)
    try agree(
      "\(name(i)) sends \(name(j)) the same fields again",
      again.map { s.outline(of: $0).fields },
      nil)
    return true
  }

  /// Checks that one delta is enough between a device and each other device.
  mutating func checkLoops(_ i: Int) throws(ScriptMismatch) {
    guard suspects.isEmpty else { return }
    for j in peers.indices where j != i {
      counts.loops += try checkLoop(from: i, to: j) ? 1 : 0
      counts.loops += try checkLoop(from: j, to: i) ? 1 : 0
    }
  }

  /// Law 13: After the last save, all replicas converge within the diameter of
  /// the network, and no save is lost.
  ///
  /// The network is a ring.
  public mutating func settle() throws(ScriptMismatch) {
    let ring = Array(peers.indices)
    guard ring.count > 1 else { return }
    let saves = clocks
    let rounds = suspects.isEmpty ? ring.count / 2 : 2 * ring.count
    try exchange(ring, rounds: rounds)
    for (i, j) in zip(ring, ring.dropFirst() + ring.prefix(1)) {
      try check(i, universe.records)
      guard collisions.isEmpty else { continue }
      try agree(
        "law 13: \(name(i)) and \(name(j)) are equal",
        peers[i].replica.contents == peers[j].replica.contents, true)
    }
    try agree("law 13: saves", clocks, saves)
    try checkIntentions(of: ring)
    guard collisions.isEmpty else { return }
    for i in ring { try checkSoundness(i) }
  }

  /// The saves that the replicas together claim to hold.
  private var clocks: VectorClock {
    peers.reduce(VectorClock()) { $0.merging($1.replica.version.vectorClock) }
  }

  /// Exchanges messages for at most `rounds` rounds, or until two rounds in a
  /// row send nothing.
  private mutating func exchange(
    _ ring: [Int], rounds: Int
  ) throws(ScriptMismatch) {
    var silences = 0
    for _ in 0..<rounds where silences < 2 {
      silences = try exchange(ring) ? 0 : silences + 1
    }
  }

  /// Performs a round: each device sends both neighbors the saves that it had
  /// before the round.
  ///
  /// - Returns: Whether a device sent a message.
  private mutating func exchange(
    _ ring: [Int]
  ) throws(ScriptMismatch) -> Bool {
    var mail: [(to: Int, letter: Letter)] = []
    for (index, i) in ring.enumerated() {
      let neighbours = Set([
        ring[(index + 1) % ring.count],
        ring[(index + ring.count - 1) % ring.count],
      ])
      for j in neighbours.sorted() where j != i {
        try recordVersion(of: i, by: j)
        let letter = try letter(from: j, since: i)
        if let letter { mail.append((i, letter)) }
      }
    }
    for (i, letter) in mail { try receive(letter, at: i) }
    return !mail.isEmpty
  }
}
