// SPDX-License-Identifier: Apache-2.0
import Rejoin

// The laws that the replicas of every configuration must satisfy.
extension Explorer {
  /// Checks the laws for pairs and triples of replicas, once for each three
  /// states.
  mutating func checkLaws(
    _ configuration: ExplorerConfiguration
  ) throws(ScriptMismatch) {
    let rest = configuration.state(1) << 20 | configuration.state(2)
    guard triples.insert(configuration.state(0), rest, 0) else { return }
    var indices: Set<Int> = []
    for i in 0..<3 {
      let held = replicas.states[configuration.state(i)].model.held
      for saves in held.values {
        indices.formUnion(saves.members.map(Int.init))
      }
    }
    for i in 0..<3 {
      try replicas.states[configuration.state(i)].model.checkSoundness(
        of: indices, named: DeviceNames.name(i))
      for j in 0..<3 where i != j {
        let (s, t) = (configuration.state(i), configuration.state(j))
        if pairs.insert(s, t, 0) { try checkPair(s, i, t, j) }
      }
      try checkOrder(configuration, i)
    }
    tried = []
  }

  /// Returns the state of the replica `t` after it receives its unseen changes
  /// from `s`.
  private func joined(
    _ t: Int, with s: Int
  ) throws(ScriptMismatch) -> Int {
    let letter = try replicas.writing(
      on: s, since: replicas.states[t].clock)
    return letter == 0 ? t : try replicas.delivering(letter, to: t).state
  }

  private mutating func checkPair(
    _ s: Int, _ i: Int, _ t: Int, _ j: Int
  ) throws(ScriptMismatch) {
    tried = [.sync(from: i, to: j)]
    let (sender, receiver) = (replicas.states[s], replicas.states[t])
    let after = try joined(t, with: s)
    counts.checks += 2
    if !sender.isAhead, !receiver.isAhead,
      sender.model.clock == receiver.model.clock
    {
      try agree(
        "law 5: equal clocks have equal contents", sender.contents,
        receiver.contents)
      try agree(
        "law 5: no unseen changes between equals",
        replicas.areAlike(after, t), true)
    }
    let rest = try replicas.writing(
      on: s, since: replicas.states[after].clock)
    try agree("the same changes are sent again", rest, 0)
    let clock = replicas.states[after].model.clock
    try agree(
      "law 2: a join loses nothing",
      sender.model.clock.isContained(in: clock)
        && receiver.model.clock.isContained(in: clock), true)
    for basis in replicas.bases(below: receiver.clock) {
      counts.checks += 1
      do throws(ScriptMismatch) {
        let letter = try replicas.writing(on: s, since: basis)
        let other =
          letter == 0 ? t : try replicas.delivering(letter, to: t).state
        try agree("the state", replicas.areAlike(other, after), true)
      } catch {
        throw ScriptMismatch(
          "law 4, since \(replicas.clocks[basis]): \(error.what)")
      }
    }
    if Replica.sendsFragments { try checkStrangers(s, t) }
  }

  /// Delivers messages since every clock below the sender's, even if no replica
  /// has that clock.
  ///
  /// A receiver that lacks the omitted saves must refuse what depends on them.
  private mutating func checkStrangers(
    _ s: Int, _ t: Int
  ) throws(ScriptMismatch) {
    for basis in replicas.bases(below: replicas.states[s].clock) {
      let letter = try replicas.writing(on: s, since: basis)
      if letter != 0 { _ = try replicas.delivering(letter, to: t) }
      counts.checks += 1
    }
  }

  /// Checks law 1: The order of two joins makes no difference, and neither does
  /// a relay.
  private mutating func checkOrder(
    _ configuration: ExplorerConfiguration, _ i: Int
  ) throws(ScriptMismatch) {
    let (j, k) = ((i + 1) % 3, (i + 2) % 3)
    let (t, s, u) = (
      configuration.state(i), configuration.state(j), configuration.state(k)
    )
    tried = [.sync(from: j, to: i), .sync(from: k, to: i)]
    let one = try joined(joined(t, with: s), with: u)
    tried = [.sync(from: k, to: i), .sync(from: j, to: i)]
    let other = try joined(joined(t, with: u), with: s)
    tried = [.sync(from: k, to: j), .sync(from: j, to: i)]
    let third = try joined(t, with: joined(s, with: u))
    counts.checks += 2
    try agree("law 1: commutativity", replicas.areAlike(one, other), true)
    try agree("law 1: associativity", replicas.areAlike(one, third), true)
  }
}
