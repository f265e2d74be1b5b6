// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinSync
import RejoinTesting

/// The numbered states, messages and calls of a ``CallExplorer``.
///
/// Each save inserts its dot into the sets of two records, so that the sets tell
/// which saves a state really has.
struct CalledReplicas {
  static let scope = "s"
  private static let tags = FieldKey("tags", .set)
  private static let records = [RecordID("Item", "1"), RecordID("Item", "2")]
  private static let schema = Schema(["Item": .init(fields: [tags])])

  /// A state on disk.
  struct State {
    let replica: Replica
    let contents: [UInt8]
    /// The elements of all saves in the version.
    let claims: Set<String>
  }

  /// A request, or an answer with the request that it answers.
  struct Message {
    let bytes: [UInt8]
    let request: SyncMessage
    /// Whether the message is the answer to a request with a part.
    let answersPart: Bool
    /// The elements of the saves that the sender of an answer claims.
    var claims: Set<String> = []
    var isRefusal = false
  }

  /// A call and the message that it waits for.
  struct Pending {
    let call: SyncCall
    let message: CallMessage
    /// The number of the last request.
    let request: Int
  }

  /// The effect of a message.
  struct Effect {
    let state: Int
    var answer = 0
    var hasPart = false
    var hasAdvanced = false
    var isRefused = false
  }

  private let program: CallProgram
  private(set) var states: [State] = []
  private(set) var messages: [Message] = []
  private(set) var versions: [ReplicaVersion] = []
  private(set) var calls: [Pending] = []
  private(set) var executions = 0
  /// The number of the first state of the hub.
  private(set) var first = 0
  private var firsts: [Int] = []
  private var stateNumbers: [[UInt8]: Int] = [:]
  private var messageNumbers: [[UInt8]: Int] = [:]
  private var versionNumbers: [ReplicaVersion: Int] = [:]
  private var callNumbers: [[Int]: Int] = [:]
  private var partNumbers: [[UInt8]: Int] = [:]
  private var answers: [[Int]: Effect] = [:]
  private var heard: [[Int]: Effect] = [:]
  private var saved: [[Int]: Int] = [:]
  private var opened: [[Int]: Int] = [:]
  private var pairs: Set<[Int]> = []
  /// The dots of all saves.
  private var made: Set<Dot> = []

  init(_ program: CallProgram) { self.program = program }

  /// Returns the states at the start, after some saves and calls.
  mutating func start() throws(ScriptMismatch) -> [Int] {
    for i in 0..<(program.devices + (program.hasHub ? 1 : 0)) {
      let replica = Replica(
        device: DeviceID(UInt64(i + 1)), schema: Self.schema,
        wallClock: ManualClock().wallClock,
        makeDeviceID: { DeviceID(UInt64(i + 11)) })
      firsts.append(try number(of: replica, at: i))
    }
    first = firsts.last ?? 0
    var states = firsts
    for (i, count) in program.early.enumerated() {
      for number in 0..<count {
        states[i] = try saving(-number, at: i, on: states[i])
      }
    }
    for (i, j) in program.introductions {
      let call = try calling(
        states[i], at: i, states[j], at: j, asHub: j >= program.devices)
      (states[i], states[j]) = (call.caller, call.peer)
    }
    return states
  }

  private func replica(_ state: Int, at i: Int) -> Replica {
    Replica(
      resuming: states[state].replica.state, schema: Self.schema,
      wallClock: ManualClock().wallClock,
      makeDeviceID: { DeviceID(UInt64(i + 11)) })
  }

  func version(of state: Int) -> ReplicaVersion {
    states[state].replica.version
  }
  func claims(of state: Int) -> Set<String> { states[state].claims }
  func hasPrefix(_ state: Int) -> Bool {
    !states[state].replica.version.prefixes.isEmpty
  }

  /// Returns whether something is new in the search.
  mutating func isNewPair(_ pair: [Int]) -> Bool { pairs.insert(pair).inserted }
}

// The results of inputs.
extension CalledReplicas {
  mutating func saving(
    _ number: Int, at i: Int, on state: Int
  ) throws(ScriptMismatch) -> Int {
    if let known = saved[[number, i, state]] { return known }
    executions += 1
    let replica = replica(state, at: i)
    // The element is the dot of the save, which a first save reveals.
    let dot = try save("", with: self.replica(state, at: i))
    try agree("the dot of a save", save("\(dot)", with: replica), dot)
    made.insert(dot)
    let result = try self.number(of: replica, at: i)
    saved[[number, i, state]] = result
    return result
  }

  private func save(
    _ element: String, with replica: Replica
  ) throws(ScriptMismatch) -> Dot {
    let report = try? replica.save { transaction in
      for id in Self.records {
        transaction.apply(
          .members(SetEdit(inserting: [.string(element)])), to: Self.tags,
          of: id)
      }
    }
    guard let dot = report?.dot else {
      throw ScriptMismatch("a save fails")
    }
    return dot
  }

  /// Opens a backup with the token of a later state.
  mutating func opening(
    _ backup: Int, at i: Int, token: Int?
  ) throws(ScriptMismatch) -> Int {
    let token = token ?? firsts[i]
    if let known = opened[[backup, i, token]] { return known }
    executions += 1
    let replica = Replica(
      opening: states[backup].replica.state,
      token: RestoreToken(states[token].replica.state), schema: Self.schema,
      wallClock: ManualClock().wallClock,
      makeDeviceID: { DeviceID(UInt64(i + 11)) })
    let result = try number(of: replica, at: i)
    opened[[backup, i, token]] = result
    return result
  }

  /// Answers a request, as the methods `answer` of a store and of a hub do.
  mutating func answering(
    _ message: Int, at i: Int, on state: Int, asHub: Bool, refusing: Bool
  ) throws(ScriptMismatch) -> Effect {
    let key = [message, i, state, refusing ? 1 : 0]
    if let known = answers[key] { return known }
    executions += 1
    let replica = replica(state, at: i)
    let (effect, answer): (Effect, SyncMessage)
    do {
      let (request, shown) = try SyncMessage.request(
        in: messages[message].bytes)
      var report = MergeReport()
      let isRefused = refusing && request.part != nil
      if !asHub {
        report = try replica.take(request.part, with: shown, of: request.device)
      } else if let part = request.part, !isRefused {
        report = replica.apply(part, reporting: .faults)
      }
      answer = try SyncMessage(
        answering: request, of: asHub ? nil : replica.device,
        showing: replica.version,
        with: replica.delta(since: shown, byteLimit: request.partLimit),
        isRefused ? .denied : nil)
      let claims = states[try number(of: replica, at: i)].claims
      if asHub { replica.recordVersion(shown, of: request.device) }
      effect = Effect(
        state: try number(of: replica, at: i),
        answer: number(
          of: Message(
            bytes: answer.encoded(), request: request,
            answersPart: request.part != nil && !isRefused, claims: claims,
            isRefusal: isRefused)),
        hasPart: request.part != nil, hasAdvanced: report.hasAdvanced,
        isRefused: isRefused)
    } catch let error as ScriptMismatch { throw error } catch {
      throw ScriptMismatch("a request is not answered: \(error)")
    }
    answers[key] = effect
    return effect
  }

  /// Lets a store take an answer in a call.
  mutating func hearing(
    _ message: Int, to request: Int, in call: inout SyncCall, at i: Int,
    on state: Int
  ) throws(ScriptMismatch) -> Effect {
    let effect: Effect
    do {
      let (shown, answer) = try call.read(
        messages[message].bytes, to: messages[request].request)
      if let known = heard[[message, i, state]] {
        effect = known
      } else {
        executions += 1
        let replica = replica(state, at: i)
        let report = try replica.take(
          answer.part, with: shown, of: answer.device)
        effect = Effect(
          state: try number(of: replica, at: i), hasPart: answer.part != nil,
          hasAdvanced: report.hasAdvanced)
        heard[[message, i, state]] = effect
      }
    } catch let error as ScriptMismatch { throw error } catch {
      throw ScriptMismatch("an answer is not read: \(error)")
    }
    var report = MergeReport()
    report.hasAdvanced = effect.hasAdvanced
    call.advance(report, to: version(of: effect.state))
    return effect
  }

  /// Makes a call without faults.
  mutating func calling(
    _ caller: Int, at i: Int, _ peer: Int, at j: Int, asHub: Bool
  ) throws(ScriptMismatch) -> (
    caller: Int, peer: Int, exchanges: Int, uploads: Int, downloads: Int
  ) {
    var (caller, peer, exchanges) = (caller, peer, 0)
    var (uploads, downloads) = (0, 0)
    var call = SyncCall(scope: Self.scope, bytesPerPart: 1, assuming: nil)
    while let request = call.request(of: states[caller].replica) {
      exchanges += 1
      if exchanges > 40 { throw ScriptMismatch("a call does not end") }
      let number = number(of: request)
      let answer = try answering(
        number, at: j, on: peer, asHub: asHub, refusing: false)
      peer = answer.state
      let effect = try hearing(
        answer.answer, to: number, in: &call, at: i, on: caller)
      caller = effect.state
      uploads += answer.hasPart ? 1 : 0
      downloads += effect.hasPart ? 1 : 0
    }
    try agree("a call without faults ends synced", call.result.isSynced, true)
    try agree(
      "the saves after a call without faults", claims(of: caller),
      claims(of: peer))
    return (caller, peer, exchanges, uploads, downloads)
  }
}

// Numbers.
extension CalledReplicas {
  private mutating func number(
    of replica: Replica, at i: Int
  ) throws(ScriptMismatch) -> Int {
    let bytes = replica.state.encoded()
    if let number = stateNumbers[bytes] { return number }
    stateNumbers[bytes] = states.count
    states.append(
      State(
        replica: replica, contents: replica.foldedBytes,
        claims: try checkedClaims(of: replica, at: i)))
    return states.count - 1
  }

  /// Returns the elements of the saves in the version, after checking that the
  /// records have them.
  private func checkedClaims(
    of replica: Replica, at i: Int
  ) throws(ScriptMismatch) -> Set<String> {
    let view = ReplicaView(replica)
    let held = Self.records.map { id in
      Set(
        (view.record(id)?.reading(of: Self.tags).elements ?? []).compactMap {
          if case .string(let text) = $0 { text } else { nil }
        })
    }
    func check(
      _ device: DeviceID, _ count: UInt64, through last: RecordID?
    ) throws(ScriptMismatch) -> Set<String> {
      var claims: Set<String> = []
      for sequence in 1..<(count + 1) {
        let dot = Dot(device, sequence)
        try agree("\(dot) was made", made.contains(dot), true)
        for (id, elements) in zip(Self.records, held) {
          if let last, id > last { continue }
          if !elements.contains("\(dot)") {
            throw ScriptMismatch("side \(i) claims \(dot), and \(id) lacks it")
          }
        }
        claims.insert("\(dot)")
      }
      return claims
    }
    var claims: Set<String> = []
    for entry in replica.version.vectorClock.entries {
      claims.formUnion(try check(entry.device, entry.count, through: nil))
    }
    for prefix in replica.version.prefixes {
      for (device, save) in prefix.saves.entries {
        _ = try check(device, save.sequence, through: prefix.through)
      }
    }
    return claims
  }

  mutating func number(of version: ReplicaVersion) -> Int {
    if let number = versionNumbers[version] { return number }
    versionNumbers[version] = versions.count
    versions.append(version)
    return versions.count - 1
  }

  mutating func number(of request: SyncMessage) -> Int {
    number(
      of: Message(
        bytes: request.encoded(), request: request, answersPart: false))
  }

  private mutating func number(of message: Message) -> Int {
    let key = message.bytes + [message.answersPart ? 1 : 0]
    if let number = messageNumbers[key] { return number }
    messageNumbers[key] = messages.count
    messages.append(message)
    return messages.count - 1
  }

  /// Returns the number of a call that waits for a message.
  mutating func number(
    of call: SyncCall, sending message: CallMessage, after request: Int
  ) -> Int {
    let part = call.lastPart ?? []
    let partNumber = partNumbers[part] ?? partNumbers.count
    partNumbers[part] = partNumber
    let key = [
      call.assumed.map { number(of: $0) } ?? -1,
      call.shown.map { number(of: $0) } ?? -1, number(of: call.own), call.falls,
      partNumber, call.refusal == nil ? 0 : 1, call.awaitsPart ? 1 : 0,
      message.number, message.isAnswer ? 1 : 0, message.caller, message.peer,
      request,
    ]
    if let number = callNumbers[key] { return number }
    callNumbers[key] = calls.count
    calls.append(Pending(call: call, message: message, request: request))
    return calls.count - 1
  }
}
