// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// The states that replicas have been in and the messages that they have written,
/// as numbers, with what became of each state at each input.
///
/// A replica is a function of its state and of what it is given, so each pair of the
/// two is carried out once, by the replica's own code, and compared with the oracle.
/// States are the same if the oracle's knowledge is; that the replicas' contents are
/// the same then is compared each time, and so is what they write since the clock
/// they had before.
final class ExploredReplicas<Replica: TestedReplica> {
  typealias Letter = World<Replica>.Letter

  /// A replica and what is true of it.
  struct State {
    let replica: Replica
    let model: OracleReplica
    /// The number of what is shared with others.
    let contents: Int
    /// The number of what it shares with replicas that will save alike.
    let likeness: Int
    /// The number of the clock.
    let clock: Int
    /// Whether a field holds saves that the clock does not.
    let isAhead: Bool
    /// What must be read of it.
    let facts: ReplicaFacts
  }

  let program: ExplorerProgram
  let history: OracleHistory
  let devices: [DeviceID]
  /// The devices that stand for rows.
  let imports: [DeviceID]
  /// Every field, those included that say whether a record exists.
  let paths: [FieldPath]
  var counts = ExplorerCounts()

  private(set) var states: [State] = []
  private var places: [[Int]: Int] = [:]
  private var contents: [Replica.Contents] = []
  private var contentsPlaces: [[Int]: Int] = [:]
  /// The clocks that can be a basis; the first holds nothing.
  private(set) var clocks: [ReplicaVersion] = []
  /// The oracle's model of the replica that shows each of them.
  private var receivers: [OracleReplica?] = []
  private var clockPlaces: [ReplicaVersion: Int] = [:]
  /// The messages; number `i` stands at `i - 1`, and zero is no message.
  private(set) var letters: [Letter] = []
  private var letterPlaces: [[Int]: Int] = [:]
  /// The devices whose saves are in a message, a bit for each.
  private(set) var origins: [Int] = []
  private var halves: [Int: (Int, Int)] = [:]
  private var lowered: [Int: [Int]] = [:]
  private var written = ExplorerMemo()
  private var parts = ExplorerMemo()
  private var applied = ExplorerMemo()
  private var saved = ExplorerMemo()
  private var shown = ExplorerMemo()
  private var stored: [[UInt8]: Int] = [:]
  /// The numbers of the prefixes of a state.
  private var prefixes: [[DeviceID: OraclePrefix]: Int] = [:]
  private var ranges: [OracleRange?: Int] = [:]
  /// The numbers of what can be undone and redone.
  private var histories: [UndoHistory: Int] = [:]
  /// The numbers of messages, where equal knowledge does not make them equal.
  private var messages: [Replica.Message: Int] = [:]
  /// The numbers of states that differ at most in what is sent of large fields.
  private var likenesses: [[Int]: Int] = [:]

  init(_ program: ExplorerProgram) {
    self.program = program
    let names = DeviceNames()
    devices = (0..<3).map(names.device)
    history = OracleHistory(schema: program.universe.schema)
    paths = Self.paths(program, devices)
    imports = program.saves.compactMap { save in
      guard case .bringIn(let rows) = save else { return nil }
      var blank = Replica(
        device: DeviceID(0), schema: program.universe.schema,
        makeDeviceID: { DeviceID(0) })
      return (try? blank.bringIn(rows, now: 0))?.device
    }
    history.imports = Set(imports)
    _ = place(of: ReplicaVersion())
  }

  /// Every field that a program can touch.
  private static func paths(
    _ program: ExplorerProgram, _ devices: [DeviceID]
  ) -> [FieldPath] {
    var paths = program.universe.records.flatMap { id in
      program.universe.fields.map { FieldPath(id, $0) }
    }
    for save in program.saves {
      guard case .retire(let i) = save else { continue }
      let model = OracleReplica(
        devices[i], history: OracleHistory(schema: Schema([:])))
      if case .edit(let id, let key, _) = model.retirement(of: devices[i]) {
        paths.append(FieldPath(id, key))
      }
    }
    let ids = Set(paths.map(\.id)).union(program.universe.records)
    return paths + ids.sorted().map { FieldPath($0, .existence) }
  }

  /// The state of a replica that has never been used.
  func empty(_ i: Int) throws(ScriptMismatch) -> Int {
    let device = devices[i]
    let replica = Replica(
      device: device, schema: program.universe.schema, makeDeviceID: { device })
    return try intern(
      replica, OracleReplica(device, history: history), before: 0)
  }

  func letter(_ number: Int) -> Letter { letters[number - 1] }

  /// The number of a clock.
  ///
  /// - Parameter receiver: The oracle's model of the replica that shows it.
  func place(of clock: ReplicaVersion, at receiver: OracleReplica? = nil) -> Int
  {
    if let place = clockPlaces[clock] { return place }
    clockPlaces[clock] = clocks.count
    clocks.append(clock)
    receivers.append(receiver)
    return clocks.count - 1
  }

}

// What a state becomes.
extension ExploredReplicas {
  /// Makes a save.
  ///
  /// - Returns: The new state; the old one if there was nothing to save.
  func saving(
    _ save: Int, on state: Int, at time: Int
  ) throws(ScriptMismatch) -> Int {
    let input = save &* program.times.count &+ time
    if let known = saved[state, input] { return known }
    let old = states[state]
    var (replica, model) = (old.replica.copy(), old.model)
    let now = program.times[time]
    counts.executions += 1
    let place = try perform(program.saves[save], &replica, &model, now: now)
    let result =
      place == nil && !program.isPurging && !program.isUndoing
      ? state : try intern(replica, model, before: old.clock)
    saved.insert(state, input, result)
    return result
  }

  /// Makes a save with a replica and as the oracle would.
  ///
  /// - Returns: The place of the save; `nil` if there was nothing to save.
  private func perform(
    _ save: ExplorerProgram.Save, _ replica: inout Replica,
    _ model: inout OracleReplica, now: Int64
  ) throws(ScriptMismatch) -> Int? {
    let (dot, place): (Dot?, Int?)
    do {
      switch save {
      case .verbs(let verbs):
        if model.mustRefuse(verbs) {
          let dot = try? replica.save(verbs, now: now)
          try agree("a save that restores a purged record", dot, nil)
          return nil
        }
        dot = try replica.save(verbs, now: now)
        place = model.save(verbs, now: now)
        if place != nil {
          try replica.checkReadBack(verbs, named: name(model.device))
        }
      case .undo(let again):
        let undone = try replica.undo(again: again, now: now)
        dot = undone.dot
        place = model.save(undone.undoings, now: now)
      case .purge:
        replica.fold()
        let cut = replica.stabilityCut
        dot = try replica.purge(now: now)
        place = model.purge(below: cut, now: now)
      case .retire(let i):
        dot = try replica.retire(devices[i], now: now)
        place = model.retire(devices[i], now: now)
      case .bringIn(let rows):
        guard let name = try replica.bringIn(rows, now: now) else { return nil }
        dot = name
        let heard = history.place(
          of: OracleReplica.importing(rows, as: name, history: history))
        model.hear(heard, now: now)
        place = heard
      }
    } catch let error as ScriptMismatch { throw error } catch {
      throw ScriptMismatch("a save throws \(error)")
    }
    try agree("dot of a save", dot, place.map { history.saves[$0].dot })
    return place
  }

  /// Shows a replica how far another is.
  func acknowledging(
    _ other: Int, on state: Int
  ) throws(ScriptMismatch) -> Int {
    if let known = shown[state, other] { return known }
    let old = states[state]
    var replica = old.replica.copy()
    try replica.recordVersion(of: states[other].replica, now: 0)
    var misled = replica.copy()
    misled.recordVersion(
      ReplicaVersion(forging: misled.version.vectorClock),
      of: states[other].replica.device, now: 0)
    try agree(
      "devices that a version marks as forked",
      misled.version.forkedDevices, old.replica.version.forkedDevices)
    counts.executions += 1
    let result = try intern(replica, old.model, before: old.clock)
    shown.insert(state, other, result)
    return result
  }

  /// What a state knows and a clock does not.
  ///
  /// - Parameter isPart: Whether to write only the first part, of one record.
  /// - Returns: The number of the message; zero if there is nothing.
  func writing(
    on state: Int, since clock: Int, isPart: Bool = false
  ) throws(ScriptMismatch) -> Int {
    if let known = isPart ? parts[state, clock] : written[state, clock] {
      return known
    }
    let (replica, model) = (states[state].replica, states[state].model)
    let letter =
      if isPart, let receiver = receivers[clock] {
        try World<Replica>.part(
          from: replica, model, since: clocks[clock], at: receiver,
          byteLimit: 1)
      } else {
        try World<Replica>.letter(
          from: replica, model, since: clocks[clock], at: receivers[clock])
      }
    counts.executions += 1
    counts.checks += 1
    let result = try letter.map { (letter) throws(ScriptMismatch) in
      try intern(letter, by: states[state].replica.version)
    }
    if isPart {
      parts.insert(state, clock, result ?? 0)
    } else {
      written.insert(state, clock, result ?? 0)
    }
    return result ?? 0
  }

  /// Delivers a message.
  ///
  /// - Returns: The new state, and whether there was a gap.
  func delivering(
    _ letter: Int, to state: Int
  ) throws(ScriptMismatch) -> (state: Int, isGap: Bool) {
    if let known = applied[state, letter] {
      return (known >> 1, known & 1 == 1)
    }
    let old = states[state]
    let number = letter
    let letter = self.letter(number)
    var (replica, model) = (old.replica.copy(), old.model)
    let receipt = replica.apply(letter.message, now: 0)
    counts.executions += 1
    let before = model.clock
    let expected = model.apply(letter.model, now: 0)
    let gaps = expected.gaps
    counts.fragments += expected.fragments
    counts.refused += expected.refused
    counts.waits += expected.waiting
    counts.parts += expected.parts
    try agree("gaps", receipt.gaps, gaps)
    try agree(
      "devices that return", receipt.returned,
      model.returned(among: letter.model.intervals.keys, since: before))
    try agree("equivocations", receipt.equivocations, [])
    if let existence = receipt.existence {
      try agree(
        "what is reported of records", existence,
        model.existence(
          of: Set(letter.model.fields.keys.map(\.id)), since: old.model))
    }
    try agree("law 6: the device", replica.device, old.replica.device)
    let result = try intern(replica, model, before: old.clock)
    if letter.model.range != nil, result == state, gaps.isEmpty {
      counts.parts.doubled += 1
    }
    applied.insert(state, number, result << 1 | (gaps.isEmpty ? 0 : 1))
    return (result, !gaps.isEmpty)
  }

  /// The halves of a message, each zero if there is but one field.
  func halves(of letter: Int) throws(ScriptMismatch) -> (Int, Int) {
    if let known = halves[letter] { return known }
    let (whole, sender) = (self.letter(letter), states[0].replica)
    var result = (0, 0)
    if whole.model.fields.count > 1 {
      let parts = sender.parts(of: whole.message, count: 2)
      counts.executions += 1
      try agree(
        "fields of the parts of a message",
        Set(parts.flatMap { sender.outline(of: $0).fields }),
        Set(whole.model.fields.keys))
      let numbers = try parts.map { (part) throws(ScriptMismatch) in
        try intern(
          Letter(
            message: part,
            model: whole.model.part(sender.outline(of: part).fields)),
          by: ReplicaVersion())
      }
      if numbers.count == 2 { result = (numbers[0], numbers[1]) }
    }
    halves[letter] = result
    return result
  }

  /// Whether two states differ at most in what is sent of large fields.
  ///
  /// A fragment and the whole field give the same state of it, but not the same
  /// view of what others need not be told.
  func areAlike(_ one: Int, _ other: Int) -> Bool {
    states[one].likeness == states[other].likeness
  }

  func name(_ device: DeviceID) -> String {
    DeviceNames.name(devices.firstIndex(of: device) ?? 3)
  }
}

// Numbers.
extension ExploredReplicas {
  /// The number of a state, which is compared with the oracle, and with the state
  /// of the same knowledge if there is one.
  ///
  /// - Parameter before: The clock that the replica had before.
  private func intern(
    _ replica: Replica, _ model: OracleReplica, before: Int
  ) throws(ScriptMismatch) -> Int {
    let name = name(model.device)
    counts.checks += 1
    let common = try internContents(replica, model)
    var key = privateKey(model) + [common]
    let likeness = likenesses[key] ?? likenesses.count
    likenesses[key] = likeness
    if program.isPurging || Replica.sendsFragments {
      let bytes = replica.stored
      let number = stored[bytes] ?? stored.count
      stored[bytes] = number
      key.append(number)
    }
    if program.isUndoing {
      let number = histories[replica.history] ?? histories.count
      histories[replica.history] = number
      key.append(number)
    }
    if let place = places[key] {
      try states[place].facts.check(replica, named: name)
      counts.checks += 1
      try agree(
        "messages of \(name) after different histories are equal",
        replica.message(since: clocks[before])
          == states[place].replica.message(since: clocks[before]), true)
      return place
    }
    try replica.check(
      against: model, program.universe.records, program.universe.fields,
      named: name)
    try replica.checkLatest(against: model, named: name)
    guard states.count < ExplorerConfiguration.stateLimit else {
      throw ScriptMismatch(
        "the program has too many states: take fewer saves or times")
    }
    places[key] = states.count
    states.append(
      State(
        replica: replica, model: model, contents: common,
        likeness: Replica.sendsFragments ? likeness : states.count,
        clock: place(of: replica.version, at: model), isAhead: model.isAhead,
        facts: ReplicaFacts(model, in: program.universe)))
    return states.count - 1
  }

  /// The number of what replicas that have heard of the same saves agree on.
  private func internContents(
    _ replica: Replica, _ model: OracleReplica
  ) throws(ScriptMismatch) -> Int {
    let key = sharedKey(model)
    guard let place = contentsPlaces[key] else {
      contentsPlaces[key] = contents.count
      contents.append(replica.contents)
      return contents.count - 1
    }
    counts.checks += 1
    try agree(
      "law 5: contents of \(name(model.device)) after different histories are "
        + "equal", replica.contents == contents[place], true)
    return place
  }

  /// The number of a message.
  ///
  /// - Parameter sender: The clock of its author, whose digests are in it.
  private func intern(
    _ letter: Letter, by sender: ReplicaVersion
  ) throws(ScriptMismatch) -> Int {
    var key = key(letter.model, by: sender)
    if Replica.sendsFragments {
      // A ledger may be folded where the fragment of another line made it so.
      let number = messages[letter.message] ?? messages.count
      messages[letter.message] = number
      key.append(number)
    }
    if let number = letterPlaces[key] {
      counts.checks += 1
      try agree(
        "messages with the same saves are equal",
        letter.message == self.letter(number).message, true)
      return number
    }
    guard letters.count + 1 < ExplorerConfiguration.messageLimit else {
      throw ScriptMismatch(
        "the program has too many messages: take fewer saves or times")
    }
    letters.append(letter)
    let saves = letter.model.saves(in: history)
    origins.append(
      devices.indices.reduce(0) { bits, i in
        saves[devices[i]] > 0 ? bits | 1 << i : bits
      })
    letterPlaces[key] = letters.count
    return letters.count
  }

  /// The saves that a replica has heard of.
  private func sharedKey(_ model: OracleReplica) -> [Int] {
    var key: [Int] = []
    for device in devices + imports {
      key.append(Int(model.clock[device]))
      key.append(Int(model.knowledge.times[device]?.rawValue ?? 0))
    }
    for path in paths {
      key += (model.held[path]?.members ?? []).map(Int.init) + [-1]
    }
    return key
  }

  /// What a replica knows alone: its device and its hybrid clock.
  private func privateKey(_ model: OracleReplica) -> [Int] {
    let prefix = prefixes[model.prefixes] ?? prefixes.count
    prefixes[model.prefixes] = prefix
    return [
      devices.firstIndex(of: model.device) ?? 3, Int(model.knowledge.latest),
      prefix,
    ]
  }

  private func key(
    _ delta: OracleDelta, by sender: ReplicaVersion
  ) -> [Int] {
    let range = ranges[delta.range] ?? ranges.count
    ranges[delta.range] = range
    var key = [range]
    for device in devices + imports {
      let interval = delta.intervals[device]
      key.append(Int(interval?.from ?? 0))
      key.append(Int(interval?.to ?? 0))
      key.append(Int(interval?.time.rawValue ?? 0))
      let digest = interval == nil ? 0 : sender[device].digest
      key.append(Int(truncatingIfNeeded: digest))
    }
    for path in paths {
      key += (delta.fields[path]?.members ?? []).map(Int.init) + [-1]
      guard let fragment = delta.fragments[path] else { continue }
      key += [fragment.isWhole ? -2 : -3]
      for device in devices + imports {
        key += [Int(fragment.clock[device]), Int(fragment.basis[device])]
      }
    }
    return key
  }
}

// Earlier clocks.
extension ExploredReplicas {
  /// Every clock below another, from numbers alone.
  func bases(below clock: Int) -> [Int] {
    if let known = lowered[clock] { return known }
    var below: [VectorClock] = [VectorClock()]
    for entry in clocks[clock].vectorClock.entries {
      below = below.flatMap { lower in
        (0...entry.count).map { n in
          var next = lower
          next[entry.device] = n
          return next
        }
      }
    }
    let result = below.map { place(of: ReplicaVersion($0)) }
    lowered[clock] = result
    return result
  }
}
