// SPDX-License-Identifier: Apache-2.0

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
  /// The number of pairs of states that a call without faults started in.
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
