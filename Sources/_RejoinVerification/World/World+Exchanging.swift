// SPDX-License-Identifier: Apache-2.0
import Rejoin

extension World.Letter {
  /// Creates a message whose model has the fragments of the outline.
  fileprivate init(
    message: Replica.Message, outline: MessageOutline, model: OracleDelta
  ) {
    var model = model
    model.fragments = outline.fragments
    self.init(message: message, model: model)
  }
}

extension World {
  /// Sends a device its unseen changes, and then both record the other's
  /// version.
  mutating func sync(from i: Int, to j: Int) throws(ScriptMismatch) -> Int {
    try checkDeltaLaw(from: i, to: j)
    try peers[j].replica.checkReports(
      from: peers[i].replica, now: peers[j].now, named: name(j))
    try checkParts(from: i, to: j)
    _ = try merge(from: i, into: j)
    try recordVersion(of: j, by: i)
    return j
  }

  mutating func merge(from i: Int, into j: Int) throws(ScriptMismatch) -> Int {
    if let letter = try letter(from: i, since: j) {
      try receive(letter, at: j)
    }
    try recordVersion(of: i, by: j)
    return j
  }

  /// Records the version of one device on another.
  mutating func recordVersion(of i: Int, by j: Int) throws(ScriptMismatch) {
    show(peers[i].model.shownSaves, to: j)
    sent.merge(peers[i].model.clock)
    let (other, now) = (peers[i].replica, peers[j].now)
    try checkStability(of: j, shown: other.stabilityCut) {
      (replica) throws(ScriptMismatch) in
      try replica.recordVersion(of: other, now: now)
    }
  }

  /// Records a forged version on a device, and checks that it reports no device
  /// as forked.
  ///
  /// The forged version contains no later own saves of the device, because
  /// those alone would require a new device ID.
  mutating func mislead(_ i: Int, with j: Int) throws(ScriptMismatch) {
    let shown = peers[i].replica.version.vectorClock.intersection(
      peers[j].replica.version.vectorClock)
    let (before, now) = (peers[i].replica.version, peers[i].now)
    let forged = ReplicaVersion(forging: shown)
    peers[i].replica.recordVersion(forged, of: peers[j].model.device, now: now)
    try agree(
      "devices that \(name(i)) takes for forked after a forged version",
      peers[i].replica.version.forkedDevices, before.forkedDevices)
    try agree(
      "clock of \(name(i)) after a forged version",
      peers[i].replica.version.vectorClock, before.vectorClock)
  }

  /// Records the own saves of a device that a clock contains.
  ///
  /// - Returns: Whether the clock contains own saves that the device does not
  ///   have.
  @discardableResult
  private mutating func show(_ clock: VectorClock, to i: Int) -> Bool {
    var isBehind = false
    for own in peers[i].model.ours where clock[own] > 0 {
      peers[i].shownOwn.advance(to: Dot(own, clock[own]))
      isBehind = isBehind || clock[own] > peers[i].model.clock[own]
    }
    if isBehind { peers[i].needsNewDeviceID = true }
    return isBehind
  }

  /// Returns the changes of a device that another has not seen, or `nil` if no
  /// such changes exist.
  ///
  /// If `j` is `nil`, the message contains all changes.
  mutating func letter(
    from i: Int, since j: Int?
  ) throws(ScriptMismatch) -> Letter? {
    let basis = j.map { peers[$0].replica.version } ?? ReplicaVersion()
    sent.merge(peers[i].model.clock)
    if !suspects.isEmpty {
      return peers[i].replica.message(since: basis).map { letter(from: i, $0) }
    }
    return try Self.letter(
      from: peers[i].replica, peers[i].model, since: basis,
      at: j.map { peers[$0].model })
  }

  /// Returns the first part of the changes that another device has not seen.
  mutating func part(
    from i: Int, since j: Int, byteLimit: Int
  ) throws(ScriptMismatch) -> Letter? {
    let basis = peers[j].replica.version
    sent.merge(peers[i].model.clock)
    if !suspects.isEmpty {
      return peers[i].replica.part(since: basis, byteLimit: byteLimit)
        .map { letter(from: i, $0) }
    }
    return try Self.part(
      from: peers[i].replica, peers[i].model, since: basis,
      at: peers[j].model, byteLimit: byteLimit)
  }

  /// Returns a message after comparing its content with the oracle.
  static func letter(
    from replica: Replica, _ model: OracleReplica, since basis: ReplicaVersion,
    at receiver: OracleReplica?
  ) throws(ScriptMismatch) -> Letter? {
    let letter = model.delta(since: basis.vectorClock, at: receiver)
    let message = replica.message(since: basis)
    try agree("unseen changes exist", message != nil, letter != nil)
    guard let message, let letter else { return nil }
    let outline = replica.outline(of: message)
    try check(outline, of: model, against: letter, since: basis)
    return Letter(message: message, outline: outline, model: letter)
  }

  /// Compares the fields, the fragments and the intervals of a message with the
  /// oracle.
  private static func check(
    _ outline: MessageOutline, of author: OracleReplica,
    against model: OracleDelta, since basis: ReplicaVersion
  ) throws(ScriptMismatch) {
    try agree("fields in a message", outline.fields, Set(model.fields.keys))
    try author.check(outline.fragments, since: basis.vectorClock)
    try agree(
      "intervals of a message", outline.intervals,
      model.intervals.mapValues { .init(from: $0.from, to: $0.to) })
  }

  /// Returns the first part of a message after comparing it with the oracle.
  static func part(
    from replica: Replica, _ model: OracleReplica, since basis: ReplicaVersion,
    at receiver: OracleReplica, byteLimit: Int
  ) throws(ScriptMismatch) -> Letter? {
    let message = replica.part(since: basis, byteLimit: byteLimit)
    let outline = message.map { replica.outline(of: $0) }
    let part = model.part(
      through: outline?.range?.through, since: basis.vectorClock, at: receiver,
      own: replica.ownDevices ?? Set(model.ours))
    try agree(
      "a part of the unseen changes exists", message != nil, part != nil)
    guard let message, let outline, let part else { return nil }
    try agree("the start of a part", outline.range?.after, part.range?.after)
    if let through = part.range?.through, through != part.range?.end {
      try agree(
        "the end of a part", outline.fields.map(\.record).max(), through)
    }
    try check(outline, of: model, against: part, since: basis)
    return Letter(message: message, outline: outline, model: part)
  }

  /// Returns a message with the content that the sender reports.
  ///
  /// If a device possibly received two histories of a device ID, its sequence
  /// numbers do not determine the unseen changes.
  func letter(from i: Int, _ message: Replica.Message) -> Letter {
    let outline = peers[i].replica.outline(of: message)
    var model = OracleDelta()
    for location in outline.fields {
      model.fields[location] = peers[i].model.held[location]
    }
    model.fragments = outline.fragments
    for (device, interval) in outline.intervals {
      model.intervals[device] = .init(
        from: interval.from, to: interval.to,
        time: outline.times[device]
          ?? peers[i].model.knowledge.times[device] ?? .zero)
    }
    model.range = outline.range.map {
      OracleRange(
        after: $0.after, through: $0.through, sender: peers[i].model.device)
    }
    return Letter(message: message, model: model)
  }

  /// Applies a message, and compares the effect with the oracle.
  @discardableResult
  mutating func receive(
    _ letter: Letter, at i: Int
  ) throws(ScriptMismatch) -> MessageReceipt {
    let now = peers[i].now
    let message = try Replica.arrival(of: letter.message)
    let receipt = peers[i].replica.apply(message, now: now)
    // Unlike a version, a delta reports the device as forked.
    if show(letter.model.saves(in: history), to: i) {
      exposed.formUnion(peers[i].model.ours)
    }
    touched.formUnion(letter.model.fields.keys.map(\.record))
    let earlier = peers[i].model
    let before = earlier.clock
    let expected = peers[i].model.apply(
      letter.model, now: now, suspects: suspects, refusals: receipt.refusals)
    let gaps = expected.gaps
    counts.fragments += expected.fragments
    counts.refusedFragments += expected.refused
    counts.waits += expected.waiting
    try checkReturns(
      receipt.returned, of: letter.model.intervals.keys, since: before, at: i)
    try checkExistence(receipt, of: letter, since: earlier, at: i)
    count(expected.parts, of: letter, receipt, since: earlier, at: i)
    counts.deliveries += 1
    counts.gaps += gaps.isEmpty ? 0 : 1
    // An interval of a forked device must start at its first save, and the
    // oracle does not know which forks the replica detected.
    try agree(
      "gaps", receipt.gaps.subtracting(suspects), gaps.subtracting(suspects))
    for device in suspects {
      let held = peers[i].replica.version[device]
      peers[i].model.knowledge.clock[device] = held.sequence
      // A forked device has the time of the later of its two histories.
      peers[i].model.knowledge.times[device] = held.time
    }
    if !suspects.isEmpty { takePrefixes(of: i, since: earlier) }
    try checkSoundness(i)
    for dot in receipt.equivocations where !isUndecidable(dot) {
      throw ScriptMismatch("\(dot) is reported and is only one save")
    }
    return receipt
  }

  /// Checks which records are reported as created or deleted, and which
  /// deletions and edits as met.
  private func checkExistence(
    _ receipt: MessageReceipt, of letter: Letter, since before: OracleReplica,
    at i: Int
  ) throws(ScriptMismatch) {
    guard let existence = receipt.existence, suspects.isEmpty else { return }
    let isMeant = { (id: RecordID) in !undecidable.contains(id) }
    try agree(
      "what \(name(i)) reports of records", existence.part(isMeant),
      peers[i].model.existence(
        of: Set(letter.model.fields.keys.map(\.record)), since: before
      ).part(isMeant))
  }

  /// Checks that a device is reported as returned if it has saves beyond those
  /// known at its retirement.
  private mutating func checkReturns(
    _ returned: Set<DeviceID>, of devices: some Sequence<DeviceID>,
    since before: VectorClock, at i: Int
  ) throws(ScriptMismatch) {
    let expected = peers[i].model.returned(among: devices, since: before)
    counts.returns += returned.count
    try agree(
      "devices that return to \(name(i))", returned.subtracting(suspects),
      expected.subtracting(suspects))
  }

  /// Returns whether a dot is at or after the first sequence number that its
  /// device used twice.
  func isUndecidable(_ dot: Dot) -> Bool {
    dot.sequence >= firstCollisions[dot.device] ?? .max
  }
}
