// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinSync

extension CallExplorer {
  /// Checks the result of a call.
  ///
  /// - Parameter answer: The number of the last answer, which can be older than the
  ///   state of the peer.
  mutating func checkEnd(
    _ call: SyncCall, of i: Int, with peer: Int, after answer: Int,
    in configuration: CallConfiguration
  ) throws(ScriptMismatch) {
    let result = call.result
    let (state, other) = (configuration.sides[i], configuration.sides[peer])
    let (own, shown) = (
      replicas.claims(of: state.state), replicas.messages[answer].claims
    )
    counts.ended += 1
    counts.uploaded += result.isUploaded ? 1 : 0
    try agree(
      "the peer showed all saves of the store", result.isUploaded,
      own.isSubset(of: shown))
    try agree(
      "both showed the same saves", result.isSynced, own == shown)
    // After a restore, the version that the peer showed can be an earlier one.
    if result.isUploaded, !other.wasRestored, !program.lags {
      try agree(
        "the peer has what is uploaded",
        own.isSubset(of: replicas.claims(of: other.state)), true)
    }
    let (one, two) = (
      replicas.states[state.state], replicas.states[other.state]
    )
    if one.replica.version == two.replica.version {
      try agree(
        "the contents of synced stores", one.contents == two.contents, true)
    }
  }

  /// Checks the part of a request.
  func check(
    _ request: SyncMessage, after exchange: (request: Int, answer: Int)?
  ) throws(ScriptMismatch) {
    guard let exchange, let part = request.part?.encoded() else { return }
    let (last, answer) = (
      replicas.messages[exchange.request].request,
      replicas.messages[exchange.answer]
    )
    try agree(
      "a part is sent twice in a row", last.part?.encoded() == part, false)
    try agree(
      "a part follows a refused one", answer.isRefusal, false)
  }

  /// Checks that a call without faults syncs, and that later ones are idle.
  ///
  /// A call does not fetch all records of a save that its device did not complete.
  /// Each of the next calls fetches a part of them.
  private mutating func checkCalls(
    from i: Int, _ caller: Int, to j: Int, _ peer: Int
  ) throws(ScriptMismatch) {
    var states = (caller, peer)
    for number in 0..<8 {
      let call = try replicas.calling(
        states.0, at: i, states.1, at: j, asHub: j >= program.devices)
      states = (call.caller, call.peer)
      // The first answer shows what to send, and the last part downloads without
      // another request.
      let least = max(1, call.downloads, call.uploads + 1)
      try agree("the exchanges of a call", call.exchanges <= least, true)
      if number == 0 || call.uploads + call.downloads > 0 { continue }
      return try agree("the exchanges of an idle call", call.exchanges, 1)
    }
    throw ScriptMismatch("no call is idle")
  }

  /// Checks that from each pair of states, a call without faults syncs.
  mutating func checkCalls(
    in configuration: CallConfiguration
  ) throws(ScriptMismatch) {
    for i in 0..<program.devices {
      for peer in configuration.sides.indices where peer != i {
        let states = [
          configuration.sides[i].state, configuration.sides[peer].state,
        ]
        guard
          replicas.isNewPair([i, peer] + states)
        else { continue }
        counts.pairs += 1
        try checkCalls(from: i, states[0], to: peer, states[1])
      }
    }
  }
}

/// The counts of a search of calls.
public struct CallExplorerCounts: Hashable, Sendable {
  /// The number of distinct configurations.
  public internal(set) var configurations = 0
  /// The number of actions tried.
  public internal(set) var transitions = 0
  /// The number of distinct states of stores and hubs.
  public internal(set) var states = 0
  /// The number of distinct messages.
  public internal(set) var messages = 0
  /// The number of saves, answers and openings that the library executed.
  public internal(set) var executions = 0
  /// The number of pairs of states from which a call without faults was made.
  public internal(set) var pairs = 0
  /// Whether all configurations were visited.
  public internal(set) var isComplete = true
  /// The number of calls that ended by themselves.
  public internal(set) var ended = 0
  /// The number of those that ended uploaded.
  public internal(set) var uploaded = 0
  /// The number of parts that were taken.
  public internal(set) var parts = 0
  /// The number of parts that moved nothing.
  public internal(set) var useless = 0
  /// The number of transfers that another peer continued.
  public internal(set) var continued = 0
  /// The number of assumed versions that were wrong.
  public internal(set) var wrongHints = 0
  /// The number of answers that were taken for a later request.
  public internal(set) var takenForLater = 0
  /// The number of versions that fell in a call.
  public internal(set) var falls = 0
  /// The number of versions that fell for the second time in a call.
  public internal(set) var secondFalls = 0
  /// The number of refused parts.
  public internal(set) var refused = 0
  /// The number of parts that arrived in a call whose upload was refused.
  public internal(set) var downloadsAfterRefusal = 0
  /// The number of lost messages.
  public internal(set) var lost = 0
  /// The number of answers that were lost after the part of the request was
  /// applied.
  public internal(set) var lostAfterPart = 0
  /// The number of times that two sides asked each other at the same time.
  public internal(set) var bothAsking = 0
  /// The number of messages that arrived again.
  public internal(set) var repeated = 0
  /// The number of requests that came back.
  public internal(set) var echoed = 0
  /// The number of restored backups.
  public internal(set) var restored = 0

  /// Creates counts of zero.
  public init() {}

  /// Adds the counts of another search.
  public static func += (a: inout CallExplorerCounts, b: CallExplorerCounts) {
    a.configurations += b.configurations
    a.transitions += b.transitions
    a.states += b.states
    a.messages += b.messages
    a.executions += b.executions
    a.pairs += b.pairs
    a.isComplete = a.isComplete && b.isComplete
    a.ended += b.ended
    a.uploaded += b.uploaded
    a.parts += b.parts
    a.useless += b.useless
    a.continued += b.continued
    a.wrongHints += b.wrongHints
    a.takenForLater += b.takenForLater
    a.falls += b.falls
    a.secondFalls += b.secondFalls
    a.refused += b.refused
    a.downloadsAfterRefusal += b.downloadsAfterRefusal
    a.lost += b.lost
    a.lostAfterPart += b.lostAfterPart
    a.bothAsking += b.bothAsking
    a.repeated += b.repeated
    a.echoed += b.echoed
    a.restored += b.restored
  }
}

extension CallExplorerCounts: CustomStringConvertible {
  /// The counts as lines.
  public var description: String {
    """
    \(configurations) configurations, \(transitions) transitions, \(states) \
    states, \(messages) messages, \(executions) executions, \(pairs) pairs
    \(ended) calls ended, \(uploaded) uploaded, \(parts) parts, \(useless) moved \
    nothing, \(continued) continued by another peer, \(wrongHints) wrong hints, \
    \(takenForLater) answers taken for a later request
    \(falls) falls, \(secondFalls) second falls, \(refused) refused parts, \
    \(downloadsAfterRefusal) parts after a refusal, \(lost) messages lost, \
    \(lostAfterPart) after their part, \(bothAsking) calls in both directions, \
    \(repeated) repeated, \(echoed) echoed, \(restored) restored
    """
  }
}
