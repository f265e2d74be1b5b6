// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// The numbered states and messages of replicas, with the result of each input
/// in each state.
///
/// A replica is a function of its state and its input, so each pair is executed
/// only once, by the replica's own code, and compared with the oracle. States
/// are the same if the oracle's knowledge is the same. Each time, the replica's
/// contents and its message since the previous clock are compared with those of
/// the known state.
final class ExploredReplicas<Replica: TestedReplica> {
  typealias Letter = World<Replica>.Letter

  /// A replica with the oracle's model of it.
  ///
  /// It is a class, because a look-up would copy a structure.
  final class State {
    let replica: Replica
    let model: OracleReplica
    /// The number of the contents, which other devices can share.
    let contents: Int
    /// A number shared by states that differ at most in the way they send large
    /// fields.
    let likeness: Int
    /// The number of the clock.
    let clock: Int
    /// Whether a field contains saves that the clock doesn't.
    let isAhead: Bool
    /// The expected results of reads.
    let facts: ReplicaFacts

    init(
      replica: Replica, model: OracleReplica, contents: Int, likeness: Int,
      clock: Int, isAhead: Bool, facts: ReplicaFacts
    ) {
      (self.replica, self.model, self.contents) = (replica, model, contents)
      (self.likeness, self.clock, self.isAhead) = (likeness, clock, isAhead)
      self.facts = facts
    }
  }

  let program: ExplorerProgram
  let history: OracleHistory
  let devices: [DeviceID]
  /// The devices that stand for imported rows.
  let imports: [DeviceID]
  /// The devices that pull from a server, one for each device.
  let pullDevices: [DeviceID]
  /// Every field, including the existence of records.
  let locations: [FieldLocation]
  /// The states of the devices at the start, when drafts are fetched.
  private(set) var starts: [DeviceID: Int] = [:]
  var counts = ExplorerCounts()

  private(set) var states: [State] = []
  private var indices: [[Int]: Int] = [:]
  private var contents: [Replica.Contents] = []
  private var contentsIndices: [[Int]: Int] = [:]
  /// The clocks that can be a basis, starting with an empty one.
  private(set) var clocks: [ReplicaVersion] = []
  /// The oracle's models of the replicas with these clocks.
  private var receivers: [OracleReplica?] = []
  private var clockIndices: [ReplicaVersion: Int] = [:]
  /// The messages: message `i` has index `i - 1`, and zero means none.
  private(set) var letters: [Letter] = []
  private var letterIndices: [[Int]: Int] = [:]
  /// The devices whose saves each message contains, as a bit mask.
  private(set) var origins: [Int] = []
  private var halves: [Int: (Int, Int)] = [:]
  private var lowered: [Int: [Int]] = [:]
  private var written = ExplorerMemo()
  private var parts = ExplorerMemo()
  private var applied = ExplorerMemo()
  private var saved = ExplorerMemo()
  private var shown = ExplorerMemo()
  /// The numbers of the stored bytes.
  private var storedNumbers: [[UInt8]: Int] = [:]
  /// The numbers of the prefixes that states have.
  private var prefixes: [[DeviceID: OraclePrefix]: Int] = [:]
  private var ranges: [OracleRange?: Int] = [:]
  /// The numbers of the undo histories.
  private var histories: [UndoHistory: Int] = [:]
  /// The numbers of messages, which can differ even if the oracle's knowledge
  /// is the same.
  private var messages: [Replica.Message: Int] = [:]
  /// Numbers shared by states that differ at most in the way they send large
  /// fields.
  private var likenesses: [[Int]: Int] = [:]

  init(_ program: ExplorerProgram) {
    self.program = program
    let names = DeviceNames()
    devices = (0..<3).map(names.device)
    pullDevices = program.isPulling ? (3..<6).map(names.device) : []
    history = OracleHistory(schema: program.universe.schema)
    locations = Self.locations(program, devices, pullDevices)
    imports = program.saves.compactMap { save in
      guard case .bringIn(let rows) = save else { return nil }
      var blank = Replica(
        device: DeviceID(0), schema: program.universe.schema,
        makeDeviceID: { DeviceID(0) })
      return (try? blank.bringIn(rows, now: 0))?.device
    }
    history.imports = Set(imports)
    _ = index(of: ReplicaVersion())
  }

  /// Returns every field that a program can touch.
  private static func locations(
    _ program: ExplorerProgram, _ devices: [DeviceID],
    _ pullDevices: [DeviceID]
  ) -> [FieldLocation] {
    var locations = program.universe.records.flatMap { id in
      program.universe.fields.map { FieldLocation(record: id, field: $0) }
    }
    for save in program.saves {
      guard case .retire(let i) = save else { continue }
      let model = OracleReplica(
        devices[i], history: OracleHistory(schema: Schema([:])))
      if case .edit(let id, let key, _) = model.retirement(of: devices[i]) {
        locations.append(FieldLocation(record: id, field: key))
      }
    }
    for device in pullDevices {
      locations.append(OracleReplica.location(ofPullDevice: device))
    }
    for location in program.universe.locations where program.isPulling {
      let memory = OracleReplica.memory(
        of: location.record, from: ExplorerProgram.server)
      locations.append(FieldLocation(record: memory, field: location.field))
    }
    let ids = Set(locations.map(\.record)).union(program.universe.records)
    return locations
      + ids.sorted().map { FieldLocation(record: $0, field: .existence) }
  }

  /// Returns the states of the devices at the start, which contain the first
  /// saves of all devices.
  func start() throws(ScriptMismatch) -> [Int] {
    var pairs: [(replica: Replica, model: OracleReplica)] = []
    for (i, device) in devices.enumerated() {
      let other = pullDevices.isEmpty ? device : pullDevices[i]
      var replica = Replica(
        device: device, schema: program.universe.schema,
        makeDeviceID: { other })
      var model = OracleReplica(device, history: history)
      if !program.introduction.isEmpty {
        let first = ExplorerProgram.Save.verbs(program.introduction[i])
        _ = try perform(first, &replica, &model, now: 0)
      }
      pairs.append((replica, model))
    }
    for i in devices.indices {
      for j in devices.indices where j != i {
        let letter = try World<Replica>.letter(
          from: pairs[i].replica, pairs[i].model,
          since: pairs[j].replica.version, at: pairs[j].model)
        guard let letter else { continue }
        _ = pairs[j].replica.apply(letter.message, now: 0)
        pairs[j].model.apply(letter.model, now: 0)
      }
    }
    return try pairs.map { (replica, model) throws(ScriptMismatch) in
      let state = try intern(replica, model, before: 0)
      starts[model.device] = state
      return state
    }
  }

  func letter(_ number: Int) -> Letter { letters[number - 1] }

  /// Returns the number of a clock.
  ///
  /// - Parameter receiver: The oracle's model of the replica with that clock.
  func index(of clock: ReplicaVersion, at receiver: OracleReplica? = nil) -> Int
  {
    if let index = clockIndices[clock] { return index }
    clockIndices[clock] = clocks.count
    clocks.append(clock)
    receivers.append(receiver)
    return clocks.count - 1
  }

}

// The results of inputs.
extension ExploredReplicas {
  /// Makes a save.
  ///
  /// - Returns: The new state, or `state` if there was nothing to save.
  func saving(
    _ save: Int, on state: Int, at time: Int
  ) throws(ScriptMismatch) -> Int {
    let input = save &* program.times.count &+ time
    if let known = saved[state, input] { return known }
    let old = states[state]
    var (replica, model) = (old.replica.copy(), old.model)
    let now = program.times[time]
    counts.executions += 1
    let index = try perform(program.saves[save], &replica, &model, now: now)
    let result =
      index == nil && !program.isPurging && !program.isUndoing
      ? state : try intern(replica, model, before: old.clock)
    saved.insert(state, input, result)
    return result
  }

  /// Makes a save with a replica, and the same save with the oracle.
  ///
  /// - Returns: The index of the save, or `nil` if there was nothing to save.
  private func perform(
    _ save: ExplorerProgram.Save, _ replica: inout Replica,
    _ model: inout OracleReplica, now: Int64
  ) throws(ScriptMismatch) -> Int? {
    let (dot, index): (Dot?, Int?)
    do {
      switch save {
      case .verbs(let verbs):
        if model.mustRefuse(verbs) {
          let dot = try? replica.save(verbs, now: now)
          try agree("a save that restores a purged record", dot, nil)
          return nil
        }
        dot = try replica.save(verbs, now: now)
        index = model.save(verbs, now: now)
        if index != nil {
          try replica.checkReadBack(verbs, named: name(model.device))
        }
      case .undo(let again):
        let undone = try replica.undo(again: again, now: now)
        dot = undone.dot
        index = model.save(undone, now: now)
      case .purge:
        replica.fold()
        let cut = replica.stabilityCut
        dot = try replica.purge(now: now)
        index = model.purge(below: cut, now: now)
      case .retire(let i):
        dot = try replica.retire(devices[i], now: now)
        index = model.retire(devices[i], now: now)
      case .bringIn(let rows):
        guard let name = try replica.bringIn(rows, now: now) else { return nil }
        dot = name
        let heard = history.index(
          of: OracleReplica.importing(rows, as: name, history: history))
        model.hear(heard, now: now)
        index = heard
      case .pull(let rows, let time):
        let i = devices.firstIndex(of: model.device) ?? 0
        dot = try replica.pull(
          rows, from: ExplorerProgram.server, modifiedAt: time, now: now)
        index = model.pull(
          rows, from: ExplorerProgram.server, modifiedAt: time,
          as: pullDevices[i], now: now)
      case .draft(let id, let edits):
        return try commit(edits, of: id, &replica, &model, now: now)
      }
    } catch let error as ScriptMismatch { throw error } catch {
      throw ScriptMismatch("a save throws \(error)")
    }
    try agree("dot of a save", dot, index.map { history.saves[$0].dot })
    return index
  }

  /// Saves edits of a record as it was at the start.
  private func commit(
    _ edits: [FieldKey: FieldEdit], of id: RecordID, _ replica: inout Replica,
    _ model: inout OracleReplica, now: Int64
  ) throws -> Int? {
    guard let start = starts[model.device] else { return nil }
    let (shown, company) = (states[start], ScriptCompany())
    let record = shown.replica.fetch(id)
    if model.mustRefuse(editOf: id, fetchedBy: shown.model) {
      let dot = try? replica.save(
        edits, of: id, shown: record, with: company, now: now)
      try agree("a save that restores a part of a purged record", dot, nil)
      return nil
    }
    let dot = try replica.save(
      edits, of: id, shown: record, with: company, now: now)
    let index = model.save(
      edits, of: id, seen: shown.model.held, with: company, now: now)
    try agree("dot of a draft", dot, index.map { history.saves[$0].dot })
    return index
  }

  /// Records the version of another replica.
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
      "devices that a version reports as forked",
      misled.version.forkedDevices, old.replica.version.forkedDevices)
    counts.executions += 1
    let result = try intern(replica, old.model, before: old.clock)
    shown.insert(state, other, result)
    return result
  }

  /// Writes the changes that a state contains and a clock doesn't.
  ///
  /// - Parameter isPart: Whether to write only the first part, with one record.
  /// - Returns: The number of the message, or zero if it would be empty.
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
  /// - Returns: The new state, and whether the delivery left a gap.
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
          of: Set(letter.model.fields.keys.map(\.record)), since: old.model))
    }
    try agree("law 6: the device", replica.device, old.replica.device)
    let result = try intern(replica, model, before: old.clock)
    if letter.model.range != nil, result == state, gaps.isEmpty {
      counts.parts.doubled += 1
    }
    applied.insert(state, number, result << 1 | (gaps.isEmpty ? 0 : 1))
    return (result, !gaps.isEmpty)
  }

  /// Returns the halves of a message, or zeros if it has at most one field.
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

  /// Returns whether two states differ at most in the way they send large
  /// fields.
  ///
  /// A fragment and the whole field give a receiver the same field, but
  /// different knowledge of the parts that other devices need.
  func areAlike(_ one: Int, _ other: Int) -> Bool {
    states[one].likeness == states[other].likeness
  }

  func name(_ device: DeviceID) -> String {
    DeviceNames.name(devices.firstIndex(of: device) ?? 3)
  }
}

// Numbers.
extension ExploredReplicas {
  /// Returns the number of a state, after comparing the state with the oracle
  /// and with the known state of the same knowledge.
  ///
  /// - Parameter before: The number of the replica's previous clock.
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
      let bytes = replica.storedBytes
      let number = storedNumbers[bytes] ?? storedNumbers.count
      storedNumbers[bytes] = number
      key.append(number)
    }
    if program.isUndoing {
      let number = histories[replica.history] ?? histories.count
      histories[replica.history] = number
      key.append(number)
    }
    if let index = indices[key] {
      try states[index].facts.check(replica, named: name)
      counts.checks += 1
      try agree(
        "messages of \(name) after different histories are equal",
        replica.message(since: clocks[before])
          == states[index].replica.message(since: clocks[before]), true)
      return index
    }
    try replica.check(
      against: model, program.universe.records, program.universe.fields,
      named: name)
    try replica.checkLatest(against: model, named: name)
    if program.hasPurgeLaw, !model.isAhead {
      for id in program.universe.records {
        try model.checkPurges(of: id, named: name)
      }
    }
    guard states.count < ExplorerConfiguration.stateLimit else {
      throw ScriptMismatch(
        "the program has too many states: take fewer saves or times")
    }
    indices[key] = states.count
    states.append(
      State(
        replica: replica, model: model, contents: common,
        likeness: Replica.sendsFragments ? likeness : states.count,
        clock: index(of: replica.version, at: model), isAhead: model.isAhead,
        facts: ReplicaFacts(model, in: program.universe)))
    return states.count - 1
  }

  /// Returns the number of the contents, which replicas with the same saves
  /// share.
  private func internContents(
    _ replica: Replica, _ model: OracleReplica
  ) throws(ScriptMismatch) -> Int {
    let key = sharedKey(model)
    guard let index = contentsIndices[key] else {
      contentsIndices[key] = contents.count
      contents.append(replica.contents)
      return contents.count - 1
    }
    counts.checks += 1
    try agree(
      "law 5: contents of \(name(model.device)) after different histories are "
        + "equal", replica.contents == contents[index], true)
    return index
  }

  /// Returns the number of a message.
  ///
  /// - Parameter sender: The version of the author, whose digests the message
  ///   contains.
  private func intern(
    _ letter: Letter, by sender: ReplicaVersion
  ) throws(ScriptMismatch) -> Int {
    var key = key(letter.model, by: sender)
    if Replica.sendsFragments {
      // A fragment of other entries can fold a ledger, so equal knowledge can
      // give different messages.
      let number = messages[letter.message] ?? messages.count
      messages[letter.message] = number
      key.append(number)
    }
    if let number = letterIndices[key] {
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
    letterIndices[key] = letters.count
    return letters.count
  }

  /// Returns the received saves of a replica, as a key.
  private func sharedKey(_ model: OracleReplica) -> [Int] {
    var key: [Int] = []
    for device in devices + imports + pullDevices {
      key.append(Int(model.clock[device]))
      key.append(Int(model.knowledge.times[device]?.rawValue ?? 0))
    }
    for location in locations {
      key += (model.held[location]?.members ?? []).map(Int.init) + [-1]
    }
    return key
  }

  /// Returns the knowledge that replicas don't share: device, hybrid clock and
  /// prefixes.
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
    for device in devices + imports + pullDevices {
      let interval = delta.intervals[device]
      key.append(Int(interval?.from ?? 0))
      key.append(Int(interval?.to ?? 0))
      key.append(Int(interval?.time.rawValue ?? 0))
      // An interval can end with a save of a prefix that is sent on.
      let ends = sender.prefixes.flatMap(\.saves.entries).filter {
        $0.device == device && $0.save.sequence == interval?.to
      }
      let end = ends.first?.save ?? sender[device]
      let digest = interval == nil ? 0 : end.digest
      key.append(Int(truncatingIfNeeded: digest))
    }
    for location in locations {
      key += (delta.fields[location]?.members ?? []).map(Int.init) + [-1]
      guard let fragment = delta.fragments[location] else { continue }
      key += [fragment.isWhole ? -2 : -3]
      for device in devices + imports + pullDevices {
        key += [Int(fragment.clock[device]), Int(fragment.basis[device])]
      }
    }
    return key
  }
}

// Earlier clocks.
extension ExploredReplicas {
  /// Returns every clock that another clock contains, computed from its
  /// numbers.
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
    let result = below.map { index(of: ReplicaVersion($0)) }
    lowered[clock] = result
    return result
  }
}
