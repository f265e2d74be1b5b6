// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// A breadth-first search of all possible actions of three replicas in a
/// program.
///
///     let counts = try Explorer<ReplicaUnderTest>(.counters).search()
///
/// A configuration consists of the states of three replicas, the saves made so
/// far, and the kept messages. The explorer tries every action from each
/// configuration. A device can make a save, send another device the changes
/// that it lacks, or keep a message with all its changes or with those since
/// another device's clock. Each kept message can reach any device repeatedly, as
/// a whole or in halves.
///
/// Millions of configurations are affordable because a replica is a function of
/// its state and its input. The explorer numbers states and messages. It
/// executes each pair of a state and an input once, with the replica's own
/// code, and compares the result with an oracle that doesn't join states. The
/// search itself is arithmetic on numbers. ``ExplorerCounts/executions`` counts
/// the runs of the replicas' code, and ``ExplorerCounts/transitions`` counts
/// the uses of their results.
///
/// Two states have the same number if they agree on the device, the hybrid
/// clock and the received saves of each field. With purges, undo or fragments,
/// the stored bytes or the undo history must agree as well. If a state is
/// reached again, the explorer compares its readable values, its contents and
/// its message since the previous clock with those of the first replica. Any
/// difference is a violation. The comparison can't show differences that appear
/// only later, such as those caused by the order of a replica's records.
///
/// Kept messages are unordered, so their order doesn't distinguish
/// configurations. Devices aren't renamed, because their IDs break ties.
/// Programs that differ only in the names of records aren't listed twice.
///
/// For each new pair or triple of states, the explorer checks these laws:
///
/// - Replicas with equal clocks have equal contents and no unseen changes.
/// - A join loses nothing.
/// - A delta since any clock below the receiver's has the same effect.
/// - The order of two joins makes no difference, and neither does a relay.
public struct Explorer<Replica: TestedReplica> {
  let program: ExplorerProgram
  let replicas: ExploredReplicas<Replica>
  let actions: [ExplorerAction]
  var table = ExplorerTable()
  var counts = ExplorerCounts()
  /// The triples and pairs of states whose laws are already checked.
  var triples = ExplorerMemo()
  var pairs = ExplorerMemo()
  /// The action that is being tried in the current configuration.
  var attempt: ExplorerAction?
  /// The steps of a law that is being checked in the current configuration.
  var tried: [ScriptStep] = []

  /// Creates an explorer.
  public init(_ program: ExplorerProgram) {
    self.program = program
    replicas = ExploredReplicas(program)
    actions = ExplorerAction.all(program)
  }

  /// Visits every configuration, starting with the fewest steps.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of configurations.
  ///   - goesOn: A closure that returns whether to continue. It is called every
  ///     few thousand configurations.
  /// - Returns: The counts of the search.
  /// - Throws: The first violation, with a script that leads to it.
  // Callers in other modules get no specialized copies, and the general one
  // spends up to a third of a search on looking up types.
  @_specialize(where Replica == ReplicaUnderTest)
  @_specialize(where Replica == FragmentingReplica)
  public mutating func search(
    atMost limit: Int = .max, while goesOn: () -> Bool = { true }
  ) throws(ExplorerViolation) -> ExplorerCounts {
    var index = 0
    /// The first configuration that breaks a law.
    var broken: (index: Int, mismatch: ScriptMismatch)?
    do throws(ScriptMismatch) {
      try Premises.check()
      let start = try replicas.start()
      _ = table.insert(
        ExplorerConfiguration(start[0], start[1], start[2]), from: 0)
      while index < table.count {
        if index % 4096 == 4095, !goesOn() {
          counts.isComplete = false
          break
        }
        try expand(index, limit)
        if broken == nil {
          do throws(ScriptMismatch) { try checkLaws(table[index]) } catch {
            broken = (index, error)
          }
        }
        index += 1
      }
      // A violation that the search finds can be printed as a script. Some laws
      // use clocks that no device has, so broken laws are reported last.
      if let broken {
        index = broken.index
        throw broken.mismatch
      }
    } catch {
      throw ExplorerViolation(
        mismatch: error, program: program,
        script: script(to: index), counts: total)
    }
    return total
  }

  private var total: ExplorerCounts {
    var total = counts
    total += replicas.counts
    total.configurations = table.count
    total.states = replicas.states.count
    total.messages = replicas.letters.count
    return total
  }

  private mutating func expand(
    _ index: Int, _ limit: Int
  ) throws(ScriptMismatch) {
    let configuration = table[index]
    for action in actions {
      attempt = action
      guard let next = try successor(of: configuration, action) else {
        continue
      }
      counts.transitions &+= 1
      if next == configuration { continue }
      if table.count < limit {
        _ = table.insert(next, from: index)
      } else {
        counts.isComplete = false
      }
    }
    attempt = nil
  }
}

extension Explorer {
  /// Returns the configuration after an action, or `nil` if the action isn't
  /// possible.
  mutating func successor(
    of configuration: ExplorerConfiguration, _ action: ExplorerAction
  ) throws(ScriptMismatch) -> ExplorerConfiguration? {
    switch action {
    case .save(let save, let i, let time):
      if configuration.isMade(save) { return nil }
      let old = configuration.state(i)
      let new = try replicas.saving(save, on: old, at: time)
      try checkCut(from: old, to: new, receiving: nil, in: configuration)
      return new == old
        ? nil : configuration.replacing(i, by: new).making(save)
    case .sync(let i, let j) where program.isPurging:
      return try meet(i, j, in: configuration)
    case .sync(let i, let j):
      let letter = try message(from: i, since: j, in: configuration)
      return letter == 0
        ? nil : try deliver(letter, half: nil, to: j, in: configuration)
    case .part(let i, let j):
      let letter = try message(
        from: i, since: j, isPart: true, in: configuration)
      return letter == 0
        ? nil : try deliver(letter, half: nil, to: j, in: configuration)
    case .writePart(let i, let j):
      let letter = try message(
        from: i, since: j, isPart: true, in: configuration)
      return keep(letter, in: configuration)
    case .write(let i, let j):
      let letter = try message(from: i, since: j, in: configuration)
      return keep(letter, in: configuration)
    case .deliver(let slot, let half, let i):
      let letter = configuration.message(slot)
      return letter == 0
        ? nil : try deliver(letter, half: half, to: i, in: configuration)
    }
  }

  private func keep(
    _ letter: Int, in configuration: ExplorerConfiguration
  ) -> ExplorerConfiguration? {
    let last = program.keptMessages - 1
    return letter == 0 || configuration.message(last) != 0
      ? nil : configuration.keeping(letter, in: last)
  }

  /// Syncs one device to another, and records each device's version at the
  /// other.
  private mutating func meet(
    _ i: Int, _ j: Int, in configuration: ExplorerConfiguration
  ) throws(ScriptMismatch) -> ExplorerConfiguration? {
    var next = configuration
    let letter = try message(from: i, since: j, in: next)
    if letter != 0,
      let delivered = try deliver(letter, half: nil, to: j, in: next)
    {
      next = delivered
    }
    for (a, b) in [(j, i), (i, j)] {
      let (old, other) = (next.state(a), next.state(b))
      let new = try replicas.acknowledging(other, on: old)
      try checkCut(from: old, to: new, receiving: other, in: next)
      next = next.replacing(a, by: new)
    }
    return next
  }

  /// Checks that every device on the roster has the saves that became stable.
  private func checkCut(
    from old: Int, to new: Int, receiving other: Int?,
    in configuration: ExplorerConfiguration
  ) throws(ScriptMismatch) {
    if old == new || !program.isPurging { return }
    let (before, after) = (replicas.states[old], replicas.states[new])
    let (low, cut) = (before.replica.stabilityCut, after.replica.stabilityCut)
    if low == cut { return }
    try agree("the stability cut never falls", low.isContained(in: cut), true)
    let received = other.map { replicas.states[$0].replica.stabilityCut }
    let known = low.merging(received ?? VectorClock())
    let roster = before.model.roster
    for i in 0..<3 where roster.contains(replicas.devices[i]) {
      let held = replicas.states[configuration.state(i)].model.clock
      for entry in cut.entries
      where entry.count > max(known[entry.device], held[entry.device]) {
        throw ScriptMismatch(
          "\(Dot(entry.device, entry.count)) is not stable: "
            + "\(DeviceNames.name(i)) lacks it")
      }
    }
  }

  func message(
    from i: Int, since j: Int?, isPart: Bool = false,
    in configuration: ExplorerConfiguration
  ) throws(ScriptMismatch) -> Int {
    let clock = j.map { replicas.states[configuration.state($0)].clock } ?? 0
    return try replicas.writing(
      on: configuration.state(i), since: clock, isPart: isPart)
  }

  private mutating func deliver(
    _ letter: Int, half: Int?, to i: Int,
    in configuration: ExplorerConfiguration
  ) throws(ScriptMismatch) -> ExplorerConfiguration? {
    var letter = letter
    if let half {
      let halves = try replicas.halves(of: letter)
      letter = half == 0 ? halves.0 : halves.1
      if letter == 0 { return nil }
      counts.split &+= 1
    }
    let (state, isGap) = try replicas.delivering(
      letter, to: configuration.state(i))
    counts.applied &+= 1
    counts.gaps &+= isGap ? 1 : 0
    let others = replicas.origins[letter - 1] & ~(1 << i)
    counts.relayed &+= others.nonzeroBitCount > 1 ? 1 : 0
    return configuration.replacing(i, by: state)
  }
}
