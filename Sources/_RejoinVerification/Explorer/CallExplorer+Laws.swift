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
