// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// Goes through everything that can happen to three replicas within a program,
/// breadth first.
///
///     let counts = try Explorer<ReplicaUnderTest>(.counters).search()
///
/// A configuration is where three replicas stand, which saves have been made, and
/// which messages are kept. From each one everything is tried: each save on each
/// device at each time; each device telling each other what it lacks; writing down a
/// message since nothing or since the clock of any other device, and keeping it;
/// delivering a kept message to any device, again and again, whole or a half of it.
///
/// What makes millions of configurations affordable is that a replica is a function
/// of its state and of what it is given. States and messages are numbers here; each
/// pair of a state and an input is carried out once, by the replica's own code, and
/// compared with an oracle that joins nothing. The search itself is arithmetic on
/// numbers. ``ExplorerCounts/executions`` tells how often the replicas' code ran, and
/// ``ExplorerCounts/transitions`` how often a result of it was used.
///
/// Two states have the same number if they agree on the device, the hybrid clock and
/// every save heard of, field by field. Each time a state is reached by another way,
/// what can be read there, the contents and the message since the clock before are
/// compared with those of the first; a difference is a violation. What is left out is
/// what no action here reads: recorded versions, and which gaps were reported. What
/// a replica keeps besides, such as the order in which it met its records, could make
/// a difference later that these comparisons do not show.
///
/// Kept messages have no order, so configurations that differ in it only are one.
/// Devices are not renamed, since they break ties; programs that differ by the names
/// of records only are not written down twice.
///
/// In each configuration with states that have not met, the laws hold: equal clocks
/// have equal contents and no unseen changes; a join loses nothing; a delta since any clock
/// below the receiver's does the same; the order of two joins makes no difference, and
/// neither does joining by way of another.
public struct Explorer<Replica: TestedReplica> {
  let program: ExplorerProgram
  let replicas: ExploredReplicas<Replica>
  let actions: [ExplorerAction]
  var table = ExplorerTable()
  var counts = ExplorerCounts()
  /// The triples and pairs of states in which the laws have been checked.
  var triples = ExplorerMemo()
  var pairs = ExplorerMemo()
  /// What is being tried in the configuration at hand.
  var attempt: ExplorerAction?
  /// What has been done after the configuration at hand.
  var tried: [ScriptStep] = []

  /// Creates an explorer.
  public init(_ program: ExplorerProgram) {
    self.program = program
    replicas = ExploredReplicas(program)
    actions = ExplorerAction.all(program)
  }

  /// Meets every configuration, those with fewer steps first.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of configurations.
  ///   - goesOn: Returns whether to continue, asked every few thousand
  ///     configurations.
  /// - Returns: What was done.
  /// - Throws: The first violation, with a script that leads to it.
  public mutating func search(
    atMost limit: Int = .max, while goesOn: () -> Bool = { true }
  ) throws(ExplorerViolation) -> ExplorerCounts {
    var place = 0
    /// The first configuration in which a law fails.
    var broken: (place: Int, mismatch: ScriptMismatch)?
    do throws(ScriptMismatch) {
      try Premises.check()
      let start = ExplorerConfiguration(
        try replicas.empty(0), try replicas.empty(1), try replicas.empty(2))
      _ = table.insert(start, from: 0)
      while place < table.count {
        if place % 4096 == 4095, !goesOn() {
          counts.isComplete = false
          break
        }
        try expand(place, limit)
        if broken == nil {
          do throws(ScriptMismatch) { try checkLaws(table[place]) } catch {
            broken = (place, error)
          }
        }
        place += 1
      }
      // A violation that the search meets can be printed as a script. Some laws
      // are about clocks that no device has, so they are reported last.
      if let broken {
        place = broken.place
        throw broken.mismatch
      }
    } catch {
      throw ExplorerViolation(
        mismatch: error, program: program,
        script: script(to: place), counts: total)
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
    _ place: Int, _ limit: Int
  ) throws(ScriptMismatch) {
    let configuration = table[place]
    for action in actions {
      attempt = action
      guard let next = try successor(of: configuration, action) else {
        continue
      }
      counts.transitions &+= 1
      if next == configuration { continue }
      if table.count < limit {
        _ = table.insert(next, from: place)
      } else {
        counts.isComplete = false
      }
    }
    attempt = nil
  }
}

extension Explorer {
  /// What becomes of a configuration; `nil` if the action is not possible.
  mutating func successor(
    of configuration: ExplorerConfiguration, _ action: ExplorerAction
  ) throws(ScriptMismatch) -> ExplorerConfiguration? {
    switch action {
    case .save(let save, let i, let time):
      if configuration.isMade(save) { return nil }
      let old = configuration.state(i)
      let new = try replicas.saving(save, on: old, at: time)
      try checkCut(from: old, to: new, telling: nil, in: configuration)
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

  /// One device tells another what it lacks, and both learn how far the other is.
  private mutating func meet(
    _ i: Int, _ j: Int, in configuration: ExplorerConfiguration
  ) throws(ScriptMismatch) -> ExplorerConfiguration? {
    var next = configuration
    var letter = 0
    for (a, b) in [(i, j), (j, i)] {
      let (old, other) = (next.state(a), next.state(b))
      let new = try replicas.acknowledging(other, on: old)
      try checkCut(from: old, to: new, telling: other, in: next)
      next = next.replacing(a, by: new)
      if a == i {
        // What is sent is found before the receiver learns anything.
        letter = try message(from: i, since: j, in: next)
      }
    }
    if letter != 0,
      let told = try deliver(letter, half: nil, to: j, in: next)
    {
      next = told
    }
    return next
  }

  /// That what has become stable is held by everybody who is waited for.
  private func checkCut(
    from old: Int, to new: Int, telling other: Int?,
    in configuration: ExplorerConfiguration
  ) throws(ScriptMismatch) {
    if old == new || !program.isPurging { return }
    let (before, after) = (replicas.states[old], replicas.states[new])
    let (low, cut) = (before.replica.stabilityCut, after.replica.stabilityCut)
    if low == cut { return }
    try agree("the stability cut never falls", low.isContained(in: cut), true)
    let told = other.map { replicas.states[$0].replica.stabilityCut }
    let known = low.merging(told ?? VectorClock())
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
