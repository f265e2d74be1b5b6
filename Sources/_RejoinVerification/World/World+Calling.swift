// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinSync

// Calls of `sync`.
extension World {
  /// A replica as it showed itself in a message.
  struct ShownReplica {
    let version: ReplicaVersion
    let model: OracleReplica
  }

  /// Performs a call until nothing is left to exchange, or until the line breaks.
  ///
  /// - Parameter messages: The number of requests and answers that arrive, or `nil`
  ///   for all.
  mutating func call(
    from i: Int, to j: Int, byteLimit: Int, messages: Int?
  ) throws(ScriptMismatch) -> Int {
    guard peers[i].replica.calling != nil, peers[j].replica.calling != nil
    else { return try sync(from: i, to: j) }
    var shown = hints[[i, j]]
    if let shown {
      counts.calls.hints += 1
      let isWrong = shown.version != peers[j].replica.version
      counts.calls.wrongHints += isWrong ? 1 : 0
    }
    var call = SyncCall(
      scope: "s", bytesPerPart: byteLimit, assuming: shown?.version)
    counts.calls.count += 1
    var (rest, exchanges) = (messages ?? .max, 0)
    while let request = peers[i].replica.calling.flatMap({
      call.request(of: $0)
    }) {
      exchanges += 1
      if exchanges > 6 * partLimit {
        throw ScriptMismatch(
          "the call of \(name(i)) to \(name(j)) does not end")
      }
      if rest == 0 { return cut(at: i) }
      try take(request, from: i, for: shown, limit: byteLimit, at: j)
      if rest == 1 { return cut(at: i) }
      rest -= 2
      try answer(request, from: j, to: i, in: &call)
      shown = self.shown(j)
      hints[[i, j]] = shown
    }
    counts.calls.exchanges += exchanges
    try checkResult(call.result, of: i, from: j)
    return i
  }

  private func shown(_ i: Int) -> ShownReplica {
    ShownReplica(version: peers[i].replica.version, model: peers[i].model)
  }

  private mutating func cut(at i: Int) -> Int {
    counts.calls.cut += 1
    return i
  }

  /// Delivers a request, which may have a part.
  ///
  /// - Parameter shown: What the receiver showed last, or `nil`.
  private mutating func take(
    _ request: SyncMessage, from i: Int, for shown: ShownReplica?, limit: Int,
    at j: Int
  ) throws(ScriptMismatch) {
    let request = try Self.arrival(of: request.encoded()) {
      try SyncMessage.request(in: $0).0
    }
    try checkClaims(of: request, from: i)
    if let part = request.part {
      guard let shown else {
        throw ScriptMismatch("\(name(i)) sends a part to an unknown peer")
      }
      try receive(
        try letter(part, from: i, for: shown, limit: limit), at: j)
    }
    try recordVersion(of: i, by: j)
  }

  /// Delivers the answer to a request.
  private mutating func answer(
    _ request: SyncMessage, from j: Int, to i: Int, in call: inout SyncCall
  ) throws(ScriptMismatch) {
    guard let author = peers[j].replica.calling, let basis = request.version
    else { return }
    let (version, answer) = try Self.arrival(
      of: try SyncMessage(
        answering: request, of: author.device, showing: author.version,
        with: author.delta(since: basis, byteLimit: request.partLimit), nil
      ).encoded()
    ) { try call.read($0, to: request) }
    try agree("the version that arrives", version, peers[j].replica.version)
    try checkClaims(of: answer, from: j)
    var report = MergeReport()
    if let part = answer.part {
      let letter = try letter(
        part, from: j, for: shown(i), limit: request.partLimit)
      report.hasAdvanced = try receive(letter, at: i).hasAdvanced
    } else if suspects.isEmpty {
      try agree(
        "\(name(j)) has nothing for \(name(i))",
        peers[j].replica.message(since: basis) == nil, true)
    }
    try recordVersion(of: j, by: i)
    call.advance(report, to: peers[i].replica.version)
  }

  /// Returns a part with the content that the oracle expects.
  private mutating func letter(
    _ part: Delta, from i: Int, for shown: ShownReplica, limit: Int
  ) throws(ScriptMismatch) -> Letter {
    counts.calls.parts += 1
    sent.merge(peers[i].model.clock)
    guard let message = part as? Replica.Message else {
      throw ScriptMismatch("a replica with calls has other messages")
    }
    if !suspects.isEmpty { return letter(from: i, message) }
    let expected = try Self.part(
      from: peers[i].replica, peers[i].model, since: shown.version,
      at: shown.model, byteLimit: limit)
    try agree("the part of a call", message == expected?.message, true)
    return expected ?? letter(from: i, message)
  }

  /// Checks the saves that the version of a message claims.
  private mutating func checkClaims(
    of message: SyncMessage, from i: Int
  ) throws(ScriptMismatch) {
    sent.merge(peers[i].model.clock)
    guard suspects.isEmpty else { return }
    try agree(
      "the saves that \(name(i)) claims to have",
      message.version?.vectorClock, peers[i].model.clock)
  }

  /// Checks the result of a call whose messages all arrived.
  private mutating func checkResult(
    _ result: SyncResult, of i: Int, from j: Int
  ) throws(ScriptMismatch) {
    try agree("an upload is refused", result.uploadRefusal, nil)
    counts.calls.uploaded += result.isUploaded ? 1 : 0
    if !suspects.isEmpty {
      counts.calls.withCopies += 1
      return
    }
    try agree("\(name(i)) is synced", result.isSynced, true)
    // The peer loses power now.
    var peer = peers[j].replica.copy()
    try peer.reopen(with: peer.restoreToken, now: peers[j].now)
    for (name, version) in [
      (name(i), peers[i].replica.version), (name(j), peer.version),
    ] {
      try agree(
        "saves that \(name) has after a call", version.vectorClock,
        peers[i].model.clock.merging(peers[j].model.clock))
    }
  }

  /// Returns a message as it arrives.
  private static func arrival<Message>(
    of bytes: @autoclosure () throws -> [UInt8],
    _ decode: ([UInt8]) throws -> Message
  ) throws(ScriptMismatch) -> Message {
    do { return try decode(try bytes()) } catch {
      throw ScriptMismatch("a message of a call is not read: \(error)")
    }
  }
}
