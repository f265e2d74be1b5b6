// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinTesting

/// The relative frequencies of the kinds of steps in random scripts.
public struct ScriptWeights: Sendable {
  /// Saves.
  public var saves = 36
  /// Exchanges between two devices.
  public var syncs = 14
  /// Messages that are kept, and then delivered late, in parts, repeatedly or
  /// never.
  public var messages = 10
  /// Deliveries of kept messages.
  public var deliveries = 14
  /// Merges of full states.
  public var merges = 6
  /// Backups.
  public var backups = 4
  /// Restores that are detected.
  public var restores = 2
  /// Restores and clones that are not detected.
  public var unnoticedRestores = 3
  /// Reopened replicas.
  public var reopenings = 3
  /// New devices that start from another device's state.
  public var forks = 2
  /// Jumps of a wall clock.
  public var clockJumps = 5
  /// Purges.
  public var purges = 2
  /// Folds of ledgers.
  public var folds = 2
  /// Edits of a record that was fetched earlier.
  public var contexts = 12
  /// Retirements.
  public var retirements = 2
  /// Deletions of a record that was fetched earlier.
  public var discards = 3
  /// Restorations of deleted records.
  public var undeletions = 3
  /// Imports of rows that every device already has.
  public var imports = 2
  /// Pulls of rows from servers.
  public var pulls = 3
  /// Stored tokens, and states that are opened with them.
  public var tokens = 4
  /// Messages that permanently lose one half.
  public var lostHalves = 3
  /// Transfers in parts, from one or more senders.
  public var transfers = 5
  /// Calls of `sync`, including calls that end early.
  public var calls = 8
  /// Undos and redos.
  public var undoings = 8
  /// Forged versions, whose digests no device made.
  public var deceptions = 2
  /// The percentage of saves of contexts that include other verbs.
  public var company = 25
  /// The percentage of saves of contexts, and of undos, that follow a purge of
  /// a record or a retirement.
  public var housekeeping = 20

  /// Creates weights that let every kind of step occur.
  public init() {}

  /// Weights for transfers in parts, with restores and forks.
  public static let transfers: ScriptWeights = {
    var weights = ScriptWeights()
    (weights.saves, weights.transfers) = (30, 40)
    (weights.unnoticedRestores, weights.backups) = (6, 6)
    (weights.syncs, weights.merges, weights.messages) = (6, 1, 4)
    return weights
  }()

  /// Weights for deletions, purges, restorations and late edits of a few
  /// devices that all know each other, without other faults.
  public static let purging: ScriptWeights = {
    var weights = ScriptWeights()
    (weights.saves, weights.syncs, weights.merges) = (20, 30, 4)
    (weights.messages, weights.deliveries, weights.transfers) = (0, 0, 0)
    (weights.backups, weights.restores, weights.unnoticedRestores) = (0, 0, 0)
    (weights.forks, weights.retirements, weights.tokens) = (0, 0, 0)
    (weights.imports, weights.pulls, weights.lostHalves) = (0, 0, 0)
    (weights.deceptions, weights.calls) = (0, 0)
    (weights.contexts, weights.discards, weights.undoings) = (14, 2, 14)
    (weights.undeletions, weights.purges, weights.housekeeping) = (6, 10, 40)
    return weights
  }()

  /// The weights, in the order of ``ScriptGenerator/Happening``.
  var list: [Int] {
    [
      saves, syncs, messages, deliveries, merges, backups, restores,
      unnoticedRestores, reopenings, forks, clockJumps, purges, folds,
      contexts, retirements, discards, undeletions, imports, pulls, tokens,
      lostHalves, transfers, undoings, deceptions, calls,
    ]
  }
}

/// A generator of random scripts.
///
/// The same seed gives the same script.
public struct ScriptGenerator {
  /// The kinds of steps, in the order of ``ScriptWeights/list``.
  enum Happening: Int, CaseIterable {
    case save, sync, write, deliver, merge, backUp, restore, forget, reopen
    case fork, jump, purge, fold, context, retire, discard, undelete
    case bringIn, pull, token, loseHalf, transfer, undo, mislead, call
  }

  var random: SeededRandom
  let weights: ScriptWeights
  let universe: ScriptUniverse
  private(set) var devices: Int
  private(set) var clocks: [Int64]
  private var messages = 0
  private var backups: [Int: Int] = [:]
  private var contexts = 0
  /// The contexts that have not been saved.
  private var openContexts: [OpenContext] = []

  private struct OpenContext {
    let number: Int
    let device: Int
    let record: RecordID
  }

  /// Creates a generator.
  ///
  /// - Parameters:
  ///   - seed: The seed of the script.
  ///   - devices: The number of devices at the start, or `nil` for a random
  ///     one.
  ///   - weights: The frequencies of the kinds of steps.
  ///   - universe: The records and fields of the script.
  public init(
    seed: UInt64, devices: Int? = nil, weights: ScriptWeights = .init(),
    universe: ScriptUniverse = .standard
  ) {
    var random = SeededRandom(seed: seed)
    (self.weights, self.universe) = (weights, universe)
    self.devices = devices ?? 2 + random.number(below: 3)
    self.random = random
    clocks = []
  }

  /// Returns a random script with at least `steps` steps.
  public static func script(
    seed: UInt64, steps: Int, devices: Int? = nil,
    weights: ScriptWeights = .init(), universe: ScriptUniverse = .standard
  ) -> Script {
    var generator = ScriptGenerator(
      seed: seed, devices: devices, weights: weights, universe: universe)
    var script = Script(deviceCount: generator.devices)
    for i in 0..<generator.devices {
      let now = 1_000_000 + Int64(generator.random.number(below: 8)) * 3_600_000
      generator.clocks.append(now)
      script.steps.append(.setClock(of: i, to: now))
    }
    while script.steps.count < steps { script.steps += generator.next() }
    return script
  }

  /// Returns a random script of devices that know each other from the start.
  ///
  /// In every second script, the last device is a hub, which makes no saves.
  public static func purgingScript(seed: UInt64, steps: Int) -> Script {
    var script = script(
      seed: seed, steps: steps, devices: 3, weights: .purging)
    let id = ScriptUniverse.standard.records[0]
    let all = Array(0..<3)
    let round = all.flatMap { i in
      all.filter { $0 != i }.map { ScriptStep.sync(from: i, to: $0) }
    }
    let introduction = all.map { ScriptStep.save(on: $0, [.touch(id)]) }
    script.steps = introduction + round + round + script.steps
    if seed % 2 == 0 {
      script.steps.removeAll { [script] in $0.author(in: script) == 2 }
    }
    return script
  }

  private mutating func next() -> [ScriptStep] {
    let i = random.number(below: devices)
    switch happening() {
    case .save: return [.save(on: i, verbs())]
    case .sync: return [.sync(from: i, to: other(than: i))]
    case .write: return write(on: i)
    case .deliver: return deliver(to: i)
    case .merge: return [.merge(from: i, into: other(than: i))]
    case .backUp:
      let k = backups.count
      backups[k] = i
      return [.backUp(i, as: k)]
    case .restore: return restore(with: .lost)
    case .forget: return restore(with: .fitting)
    case .reopen: return [.reopen(i)]
    case .fork:
      guard devices < 6 else { return [] }
      devices += 1
      clocks.append(clocks[i])
      return [.fork(i)]
    case .jump:
      clocks[i] +=
        Int64(random.number(below: 9) - 4) * 3_600_000
        + Int64(random.number(below: 1000))
      return [.setClock(of: i, to: clocks[i])]
    case .purge: return [.purge(i)]
    case .fold: return [.fold(i)]
    case .context: return context(on: i)
    case .retire:
      return [.retire(on: i, random.chance(percent: 25) ? i : other(than: i))]
    case .discard: return discard(on: i)
    case .undelete:
      let isEdited = random.chance(percent: 30)
      return [
        .save(
          on: i,
          [.undelete(random.pick(universe.records))] + (isEdited ? verbs() : [])
        )
      ]
    case .bringIn: return [.bringIn(on: i, rows())]
    case .pull: return [pull(on: i, at: clocks[i])]
    case .token: return open(i)
    case .loseHalf: return loseHalf(from: i, to: other(than: i))
    case .transfer: return transfer(to: i)
    case .undo:
      return housekeeping(on: i, about: random.pick(universe.records))
        + [.undo(on: i, again: random.chance(percent: 30))]
    case .mislead: return [.mislead(i, with: other(than: i))]
    case .call:
      return [
        .call(
          from: i, to: other(than: i), byteLimit: random.pick([1, 1, 300]),
          messages: random.chance(percent: 40) ? random.number(below: 6) : nil)
      ]
    }
  }

  private mutating func happening() -> Happening {
    var rest = random.number(below: weights.list.reduce(0, +))
    for (happening, weight) in zip(Happening.allCases, weights.list) {
      if rest < weight { return happening }
      rest -= weight
    }
    return .save
  }

  private mutating func other(than i: Int) -> Int {
    (i + 1 + random.number(below: max(devices - 1, 1))) % devices
  }

  private mutating func write(on i: Int) -> [ScriptStep] {
    let k = messages
    messages += 1
    let basis = random.chance(percent: 15) ? nil : other(than: i)
    var steps: [ScriptStep] = []
    if let basis, random.chance(percent: 40) {
      // Bring the basis up to date first, so all other devices see a gap.
      steps = [.sync(from: i, to: basis), .save(on: i, verbs())]
    }
    steps.append(.write(on: i, since: basis, message: k))
    if random.chance(percent: 30) {
      messages += 2
      steps.append(.split(message: k, into: k + 1, k + 2))
    }
    if random.chance(percent: 50) {
      steps.append(.deliver(message: k, to: other(than: i)))
    }
    return steps
  }

  /// Returns the delivery of a message, more often of a recent one.
  private mutating func deliver(to i: Int) -> [ScriptStep] {
    if messages == 0 { return [] }
    let age = random.number(
      below: random.chance(percent: 60) ? min(messages, 4) : messages)
    return [.deliver(message: messages - 1 - age, to: i)]
  }

  private mutating func restore(with token: ScriptToken) -> [ScriptStep] {
    guard !backups.isEmpty else { return [] }
    let k = random.number(below: backups.count)
    guard let i = backups[k] else { return [] }
    return [.restore(i, from: k, with: token)]
  }

  /// Returns steps that may store a state and then its token, save, and open a
  /// stored state with the token.
  private mutating func open(_ i: Int) -> [ScriptStep] {
    var steps: [ScriptStep] = []
    if random.chance(percent: 70) {
      steps.append(.backUp(i, as: backups.count))
      backups[backups.count] = i
    }
    if random.chance(percent: 60) { steps.append(.storeToken(i)) }
    if random.chance(percent: 40) { steps.append(.save(on: i, verbs())) }
    if random.chance(percent: 40),
      let last = backups.keys.filter({ backups[$0] == i }).max()
    {
      steps.append(
        random.chance(percent: 70)
          ? .restore(i, from: last, with: .last)
          : restore(with: .last).first ?? .reopen(i))
    }
    return steps
  }

  /// Returns steps that deliver one half of a message and lose the other.
  private mutating func loseHalf(from i: Int, to j: Int) -> [ScriptStep] {
    let k = messages
    messages += 3
    return [
      .save(on: i, verbs()), .write(on: i, since: j, message: k),
      .split(message: k, into: k + 1, k + 2),
      .deliver(message: k + 1 + random.number(below: 2), to: j),
    ]
  }

  /// Returns the parts of a transfer to a device, with other steps between
  /// them.
  private mutating func transfer(to j: Int) -> [ScriptStep] {
    var (steps, sender) = ([] as [ScriptStep], other(than: j))
    for _ in 0...random.number(below: 5) {
      let k = messages
      messages += 1
      let limit = random.pick([1, 1, 1, 300])
      steps.append(
        .writePart(on: sender, since: j, byteLimit: limit, message: k))
      if !random.chance(percent: 10) {
        steps.append(.deliver(message: k, to: j))
      }
      switch random.number(below: 20) {
      case 0, 1: sender = other(than: j)
      case 2: steps.append(.deliver(message: k, to: j))
      case 3: steps += deliver(to: j)
      case 4: steps.append(.save(on: sender, verbs()))
      case 5: steps.append(.sync(from: other(than: sender), to: sender))
      case 6:
        backups[backups.count] = j
        steps.append(.backUp(j, as: backups.count - 1))
      case 7:
        let last = backups.keys.filter { backups[$0] == j }.max()
        if let last {
          let token: ScriptToken = random.chance(percent: 70) ? .lost : .fitting
          if token == .lost || weights.unnoticedRestores > 0 {
            steps.append(.restore(j, from: last, with: token))
          }
        }
      case 8 where weights.unnoticedRestores > 0 && random.chance(percent: 30):
        steps += fork(sender, showing: j)
      default: break
      }
    }
    return steps
  }

  /// Returns the steps of an undetected fork during a transfer.
  ///
  /// A device sends a part, continues from a backup, and sends its new saves to
  /// the same receiver.
  private mutating func fork(_ i: Int, showing j: Int) -> [ScriptStep] {
    let (backup, k) = (backups.count, messages)
    messages += 2
    backups[backup] = i
    return [
      .backUp(i, as: backup), .save(on: i, verbs()),
      .writePart(on: i, since: j, byteLimit: 1, message: k),
      .deliver(message: k, to: j),
      .restore(i, from: backup, with: .fitting), .save(on: i, verbs()),
      .write(on: i, since: j, message: k + 1), .deliver(message: k + 1, to: j),
    ]
  }

  private mutating func openContext(on i: Int) -> [ScriptStep] {
    let id = random.pick(universe.records)
    openContexts.append(OpenContext(number: contexts, device: i, record: id))
    contexts += 1
    return [.fetch(on: i, id, context: contexts - 1)]
  }

  /// Chooses a context to save, and steps before it that may purge or retire.
  private mutating func closeContext() -> (k: Int, before: [ScriptStep]) {
    let context = openContexts.remove(
      at: random.number(below: openContexts.count))
    return (
      context.number,
      housekeeping(on: context.device, about: context.record)
    )
  }

  private mutating func discard(on i: Int) -> [ScriptStep] {
    if openContexts.isEmpty || random.chance(percent: 30) {
      return openContext(on: i)
    }
    let (k, before) = closeContext()
    return before + [.discard(context: k, with: company())]
  }

  /// Returns a retirement, the steps of a purge of a record, or no steps.
  ///
  /// All devices learn of the deletion before the purge announces that it will
  /// drop the record, and often of the announcement before the purge drops it.
  ///
  /// - Parameters:
  ///   - count: The number of devices, or `nil` for those of the script.
  ///   - now: The time of a pull, or `nil` for that of the device.
  mutating func housekeeping(
    on i: Int, of count: Int? = nil, about id: RecordID, at now: Int64? = nil
  ) -> [ScriptStep] {
    guard random.chance(percent: weights.housekeeping) else { return [] }
    if weights.retirements > 0, random.chance(percent: 35) {
      return [.retire(on: i, random.chance(percent: 25) ? i : other(than: i))]
    }
    // Two rounds: a cut rises to the saves that all devices held at the
    // previous target. A device passes a target only after its own saves
    // arrived.
    let round = (0..<(count ?? devices)).filter { $0 != i }.flatMap {
      [ScriptStep.sync(from: $0, to: i), .sync(from: i, to: $0)]
    }
    let announcement =
      [.save(on: i, [.delete(id)])] + round + round + [.purge(i)]
    if random.chance(percent: 40) { return announcement }
    let j = (i + random.number(below: count ?? devices)) % (count ?? devices)
    return announcement + event(on: j, about: id, at: now ?? clocks[j]) + round
      + round + [.purge(i)]
  }

  /// Returns an event between the announcement of a purge and the drop, or no
  /// steps.
  private mutating func event(
    on i: Int, about id: RecordID, at now: Int64
  ) -> [ScriptStep] {
    switch random.number(below: 8) {
    case 0 where weights.undeletions > 0:
      return [.save(on: i, [.undelete(id)])]
    case 1: return [.undo(on: i, again: false)]
    case 2: return [.save(on: i, [edit(of: id, universe.fields)])]
    case 3: return [.save(on: i, [.touch(id), .delete(id)])]
    case 4 where weights.pulls > 0: return [pull(on: i, at: now)]
    default: return []
    }
  }

  private mutating func context(on i: Int) -> [ScriptStep] {
    if openContexts.isEmpty || random.chance(percent: 40) {
      return openContext(on: i)
    }
    var edits: [FieldKey: FieldEdit] = [:]
    for _ in 0...random.number(below: 2) {
      // Prefer registers, because a context can show their conflicts.
      let registers = universe.fields.filter { $0.kind == .register }
      let isPlain = registers.isEmpty || random.chance(percent: 50)
      let key = random.pick(isPlain ? universe.fields : registers)
      edits[key] = edit(of: key.kind)
    }
    let (k, before) = closeContext()
    return before + [.commit(context: k, edits, with: company())]
  }
}
