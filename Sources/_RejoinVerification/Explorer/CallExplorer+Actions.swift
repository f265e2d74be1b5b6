// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinSync

extension CallExplorer {
  /// The number of the hub, or `nil` without one.
  private var hub: Int? { program.hasHub ? program.devices : nil }

  mutating func start() throws(ScriptMismatch) -> CallConfiguration {
    let sides = try replicas.start()
    return CallConfiguration(
      sides: sides.map { .init(state: $0, token: $0) },
      faults: program.faults)
  }

  func actions(in configuration: CallConfiguration) -> [CallAction] {
    var actions: [CallAction] = []
    let (sides, hasFaults) = (configuration.sides, configuration.faults > 0)
    for i in 0..<program.devices {
      if sides[i].saves < program.saves[i] { actions.append(.save(i)) }
      guard let number = sides[i].call else {
        for peer in sides.indices where peer != i {
          actions.append(.ask(i, peer: peer))
        }
        continue
      }
      actions.append(.deliver(caller: i))
      guard hasFaults else { continue }
      actions += [.lose(caller: i), .crash(i)]
      if configuration.kept == nil {
        actions += [.repeat(caller: i), .giveUp(caller: i)]
      }
      let message = replicas.calls[number].message
      guard !message.isAnswer else { continue }
      actions.append(.echo(caller: i))
      guard message.peer == hub else { continue }
      if program.lags { actions.append(.deliverToOther(caller: i)) }
      if program.refuses { actions.append(.refuse(caller: i)) }
    }
    if configuration.kept != nil { actions.append(.deliverKept) }
    for i in sides.indices where hasFaults && !(program.lags && i == hub) {
      if sides[i].backup == nil {
        actions.append(.backUp(i))
      } else if !sides[i].wasRestored, sides[i].backup != sides[i].state {
        actions.append(.restore(i))
      }
    }
    return actions
  }

  /// Returns the configuration after an action, or `nil` if it has no effect.
  mutating func perform(
    _ action: CallAction, in old: CallConfiguration
  ) throws(ScriptMismatch) -> CallConfiguration? {
    var next = old
    switch action {
    case .save(let i):
      next.sides[i].saves += 1
      next.sides[i].state = try replicas.saving(
        next.sides[i].saves, at: i, on: old.sides[i].state)
    case .ask(let i, let peer): try ask(i, peer, in: &next)
    case .deliver(let i): try deliver(i, in: &next)
    case .repeat(let i):
      next.faults -= 1
      next.kept = message(of: i, in: old)
      counts.repeated += 1
      try deliver(i, in: &next)
    case .deliverToOther(let i):
      next.faults -= 1
      try deliver(i, in: &next, toOther: true)
    case .refuse(let i):
      next.faults -= 1
      try deliver(i, in: &next, refusing: true)
    case .deliverKept: try deliverKept(in: &next)
    case .lose(let i):
      next.faults -= 1
      countLoss(of: message(of: i, in: old))
      next.sides[i].call = nil
    case .giveUp(let i):
      next.faults -= 1
      next.kept = message(of: i, in: old)
      next.sides[i].call = nil
    case .echo(let i):
      next.faults -= 1
      try echo(i, in: old)
      next.sides[i].call = nil
    case .crash(let i):
      next.faults -= 1
      (next.sides[i].call, next.sides[i].hint) = (nil, nil)
    case .backUp(let i): next.sides[i].backup = old.sides[i].state
    case .restore(let i):
      next.faults -= 1
      try restore(i, in: &next)
    }
    return next
  }

  private func message(
    of i: Int, in configuration: CallConfiguration
  ) -> CallMessage? {
    configuration.sides[i].call.map { replicas.calls[$0].message }
  }

  private mutating func countLoss(of message: CallMessage?) {
    guard let message else { return }
    counts.lost += 1
    // The answer belongs to a request whose part was applied.
    if message.isAnswer, replicas.messages[message.number].answersPart {
      counts.lostAfterPart += 1
    }
  }

  private mutating func ask(
    _ i: Int, _ peer: Int, in next: inout CallConfiguration
  ) throws(ScriptMismatch) {
    let hint = next.sides[i].hint.flatMap { $0.peer == peer ? $0.version : nil }
    if let hint,
      replicas.versions[hint] != replicas.version(of: next.sides[peer].state)
    {
      counts.wrongHints += 1
    }
    if let call = next.sides[peer].call, replicas.calls[call].message.peer == i
    {
      counts.bothAsking += 1
    }
    let call = SyncCall(
      scope: CalledReplicas.scope, bytesPerPart: 1,
      assuming: hint.map { replicas.versions[$0] })
    try goOn(call, of: i, with: peer, after: nil, in: &next)
  }

  /// Sends the next request of a call, or ends the call.
  ///
  /// - Parameter exchange: The numbers of the last request and its answer.
  private mutating func goOn(
    _ call: SyncCall, of i: Int, with peer: Int,
    after exchange: (request: Int, answer: Int)?,
    in next: inout CallConfiguration
  ) throws(ScriptMismatch) {
    var call = call
    let state = next.sides[i].state
    guard let request = call.request(of: replicas.states[state].replica) else {
      next.sides[i].call = nil
      next.sides[i].hint = CallHint(
        peer: peer, version: replicas.number(of: call.result.peerVersion))
      return try checkEnd(
        call, of: i, with: peer, after: exchange?.answer ?? 0, in: next)
    }
    try check(request, after: exchange)
    next.sides[i].token = state
    let message = CallMessage(
      number: replicas.number(of: request), isAnswer: false, caller: i,
      peer: peer)
    next.sides[i].call = replicas.number(
      of: call, sending: message, after: message.number)
  }

  /// Delivers the message of a call.
  private mutating func deliver(
    _ i: Int, in next: inout CallConfiguration, refusing: Bool = false,
    toOther: Bool = false
  ) throws(ScriptMismatch) {
    guard let number = next.sides[i].call else { return }
    let pending = replicas.calls[number]
    if pending.message.isAnswer {
      return try hear(pending.message, pending, of: i, in: &next)
    }
    let answer = try receive(
      pending.message, in: &next, refusing: refusing, toOther: toOther)
    next.sides[i].call = replicas.number(
      of: pending.call, sending: answer, after: pending.request)
  }

  /// Lets the peer answer a request.
  private mutating func receive(
    _ message: CallMessage, in next: inout CallConfiguration,
    refusing: Bool = false, toOther: Bool = false
  ) throws(ScriptMismatch) -> CallMessage {
    let (peer, isHub) = (message.peer, message.peer == hub)
    let old =
      toOther
      ? next.sides[peer].backup ?? replicas.first : next.sides[peer].state
    let effect = try replicas.answering(
      message.number, at: peer, on: old, asHub: isHub, refusing: refusing)
    if toOther {
      next.sides[peer].backup = effect.state
    } else {
      count(effect, from: message.caller, at: peer, in: &next)
      next.sides[peer].state = effect.state
    }
    if !isHub { next.sides[peer].token = effect.state }
    counts.refused += effect.isRefused ? 1 : 0
    return CallMessage(
      number: effect.answer, isAnswer: true, caller: message.caller, peer: peer)
  }

  /// Lets a store take an answer, and go on with its call.
  private mutating func hear(
    _ message: CallMessage, _ pending: CalledReplicas.Pending, of i: Int,
    in next: inout CallConfiguration
  ) throws(ScriptMismatch) {
    var call = pending.call
    let (falls, peer) = (call.falls, message.peer)
    let effect = try replicas.hearing(
      message.number, to: pending.request, in: &call, at: i,
      on: next.sides[i].state)
    if call.falls > falls {
      counts.falls += 1
      counts.secondFalls += call.falls == 2 ? 1 : 0
    }
    if call.refusal != nil, effect.hasPart { counts.downloadsAfterRefusal += 1 }
    count(effect, from: peer, at: i, in: &next)
    next.sides[i].state = effect.state
    try goOn(
      call, of: i, with: peer, after: (pending.request, message.number),
      in: &next)
  }

  private mutating func count(
    _ effect: CalledReplicas.Effect, from sender: Int, at i: Int,
    in next: inout CallConfiguration
  ) {
    guard effect.hasPart, !effect.isRefused else { return }
    counts.parts += 1
    let before = next.sides[i].state
    if effect.hasAdvanced {
      if let last = next.sides[i].sender, last != sender,
        replicas.hasPrefix(before)
      {
        counts.continued += 1
      }
      next.sides[i].sender = replicas.hasPrefix(effect.state) ? sender : nil
    } else {
      counts.useless += 1
    }
  }

  /// Delivers a message of a call that went on or ended.
  private mutating func deliverKept(
    in next: inout CallConfiguration
  ) throws(ScriptMismatch) {
    guard let message = next.kept else { return }
    next.kept = nil
    if !message.isAnswer {
      // No call waits for the answer.
      _ = try receive(message, in: &next)
      return
    }
    let i = message.caller
    guard let number = next.sides[i].call,
      case let pending = replicas.calls[number],
      pending.message.peer == message.peer
    else { return }
    counts.takenForLater += 1
    try hear(message, pending, of: i, in: &next)
  }

  /// Checks that a store does not take its own request for an answer.
  private mutating func echo(
    _ i: Int, in configuration: CallConfiguration
  ) throws(ScriptMismatch) {
    guard let number = configuration.sides[i].call else { return }
    var call = replicas.calls[number].call
    let request = replicas.messages[replicas.calls[number].message.number]
    counts.echoed += 1
    if (try? call.read(request.bytes, to: request.request)) != nil {
      throw ScriptMismatch("an echo is an answer")
    }
  }

  private mutating func restore(
    _ i: Int, in next: inout CallConfiguration
  ) throws(ScriptMismatch) {
    guard let backup = next.sides[i].backup else { return }
    counts.restored += 1
    (next.sides[i].call, next.sides[i].sender) = (nil, nil)
    next.sides[i].wasRestored = true
    next.sides[i].state =
      i == hub
      ? backup
      : try replicas.opening(backup, at: i, token: next.sides[i].token)
  }
}
