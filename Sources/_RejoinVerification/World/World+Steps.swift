// SPDX-License-Identifier: Apache-2.0
import Rejoin

extension World {
  /// Performs a step, and checks the device that it changes.
  public mutating func perform(_ step: ScriptStep) throws(ScriptMismatch) {
    try Premises.check()
    touched = []
    guard let i = try execute(step) else { return }
    recordIntroduction()
    try check(
      i,
      changesAll(step)
        ? universe.records
        : universe.records.filter {
          touched.contains($0) || refersToTouched($0, on: i)
        })
    try checkEquality(i, (i + 1) % peers.count)
    try checkLoops(i)
  }

  /// Performs a step.
  ///
  /// - Returns: The device to check, or `nil` if no replica changed.
  private mutating func execute(
    _ step: ScriptStep
  ) throws(ScriptMismatch) -> Int? {
    guard involved(step).allSatisfy(peers.indices.contains) else { return nil }
    if isBeyondPurgeLaw(step) { hasPurgeLaw = false }
    switch step {
    case .save(let i, let verbs): return try save(i, verbs)
    case .undo(let i, let again): return try undo(i, again: again)
    case .setClock(let i, let now):
      peers[i].now = now
      return nil
    case .sync(let i, let j): return try sync(from: i, to: j)
    case .call(let i, let j, let limit, let messages):
      return try call(from: i, to: j, byteLimit: limit, messages: messages)
    case .merge(let i, let j): return try merge(from: i, into: j)
    case .write(let i, let j, let k):
      letters[k] = try letter(from: i, since: j)
      return nil
    case .writePart(let i, let j, let limit, let k):
      letters[k] = try part(from: i, since: j, byteLimit: limit)
      return nil
    case .split(let k, let a, let b):
      split(k, a, b)
      return nil
    case .deliver(let k, let i):
      guard let letter = letters[k] else { return nil }
      try receive(letter, at: i)
      return i
    case .backUp(let i, let k):
      backups[k] = peers[i]
      backups[k]?.replica = peers[i].replica.copy()
      return nil
    case .restore(let i, let k, let token):
      return try restore(i, from: k, with: token)
    case .storeToken(let i):
      let peer = peers[i]
      let token = peer.replica.restoreToken
      tokens[i] = StoredToken(
        token: token, device: peer.model.device, chain: peer.chain,
        pulls: peer.pulls, ownDevices: peer.ownDevices)
      try checkTokens(i)
      return nil
    case .reopen(let i):
      let token = peers[i].replica.restoreToken
      try reopen(i, with: token, keeping: isSuspect(i) ? nil : true)
      return i
    case .fork(let i): return fork(i)
    case .purge(let i): return try purge(i)
    case .fold(let i):
      try checkStability(of: i) { $0.fold() }
      return i
    case .bringIn(let i, let rows): return try bringIn(i, rows)
    case .pull(let i, let server, let time, let rows):
      return try pull(i, rows, from: server, modifiedAt: time)
    case .mislead(let i, let j):
      isMisled = true
      try mislead(i, with: j)
      return i
    case .retire(let i, let j): return try retire(j, on: i)
    case .fetch(let i, let id, let k):
      try fetch(id, on: i, as: k)
      return nil
    case .commit(let k, let edits, let company):
      return try commit(k, edits, company)
    case .discard(let k, let company): return try discard(k, company)
    }
  }

  /// Returns whether purges may change what the devices show from a step on.
  private func isBeyondPurgeLaw(_ step: ScriptStep) -> Bool {
    switch step {
    case .restore, .fork, .retire, .bringIn, .pull, .mislead: true
    default: false
    }
  }

  /// Returns whether a step may change the readings of any record.
  private func changesAll(_ step: ScriptStep) -> Bool {
    switch step {
    case .restore, .reopen, .fork, .fold: true
    default: false
    }
  }

  /// Returns whether a record refers to one that the step touches, and so may
  /// create or delete.
  private func refersToTouched(_ id: RecordID, on i: Int) -> Bool {
    universe.fields.contains {
      peers[i].model.field(FieldLocation(record: id, field: $0)).refers(
        to: touched)
    }
  }

  private func involved(_ step: ScriptStep) -> [Int] {
    switch step {
    case .save(let i, _), .setClock(let i, _), .deliver(_, let i),
      .backUp(let i, _), .restore(let i, _, _), .reopen(let i), .fork(let i),
      .purge(let i), .fold(let i), .fetch(let i, _, _), .storeToken(let i),
      .undo(let i, _), .bringIn(let i, _), .pull(let i, _, _, _):
      [i]
    case .sync(let i, let j), .merge(let i, let j), .mislead(let i, let j),
      .call(let i, let j, _, _):
      i == j ? [-1] : [i, j]
    case .retire(let i, let j): [i, j]
    case .write(let i, let j, _): [i, j ?? i]
    case .writePart(let i, let j, _, _): [i, j]
    case .split, .commit, .discard: []
    }
  }

  private mutating func split(_ k: Int, _ a: Int, _ b: Int) {
    guard let letter = letters[k], let sender = peers.first else { return }
    let parts = sender.replica.parts(of: letter.message, count: 2)
    for (part, name) in zip(parts, [a, b]) {
      let locations = sender.replica.outline(of: part).fields
      letters[name] = Letter(message: part, model: letter.model.part(locations))
    }
  }

  /// Closes the editing contexts of a device, as the end of its app does.
  mutating func closeContexts(of i: Int) {
    contexts = contexts.filter { $0.value.peer != i }
  }

  private mutating func fork(_ i: Int) -> Int {
    let number = peers.count
    let device = names.device(number)
    var peer = peers[i]
    // The copy has the original's saves, so they count as sent.
    sent.merge(peer.model.clock)
    peer.replica = peers[i].replica.forked(
      as: device, makeDeviceID: { [names] in names.renew(number) })
    peer.model.fork(as: device)
    peer.startAnew()
    peer.ownDevices = []
    peers.append(peer)
    counts.forks += 1
    return number
  }
}
