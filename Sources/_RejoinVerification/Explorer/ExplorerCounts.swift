// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

/// The counts of an explorer's work.
public struct ExplorerCounts: Hashable, Sendable {
  /// The number of distinct configurations.
  ///
  /// A configuration consists of the states of three replicas, the remaining
  /// saves, and the kept messages.
  public internal(set) var configurations = 0
  /// The number of steps from one configuration to another or to itself.
  public internal(set) var transitions = 0
  /// The number of distinct states of replicas.
  public internal(set) var states = 0
  /// The number of distinct messages.
  public internal(set) var messages = 0
  /// The number of saves, messages and deliveries that the replicas' own code
  /// executed.
  public internal(set) var executions = 0
  /// The number of comparisons with the oracle and between states.
  public internal(set) var checks = 0
  /// The number of transitions that delivered a message, whole or in part.
  public internal(set) var applied = 0
  /// The number of deliveries that left a gap.
  public internal(set) var gaps = 0
  /// The number of deliveries of one half of a message.
  public internal(set) var split = 0
  /// The number of deliveries with saves of both other devices.
  ///
  /// The sender relayed at least some of these saves.
  public internal(set) var relayed = 0
  /// The number of fragments that the replicas applied.
  public internal(set) var fragments = 0
  /// The number of fragments that the replicas refused, at least in part.
  public internal(set) var refused = 0
  /// The number of intervals that were blocked by a refused fragment.
  public internal(set) var waits = 0
  /// The counts of parts of transfers.
  public internal(set) var parts = PartCounts()
  /// Whether the explorer visited every reachable configuration.
  public internal(set) var isComplete = true

  /// Creates counts of zero.
  public init() {}

  /// Adds the counts of another search.
  public static func += (a: inout ExplorerCounts, b: ExplorerCounts) {
    a.configurations += b.configurations
    a.transitions += b.transitions
    a.states += b.states
    a.messages += b.messages
    a.executions += b.executions
    a.checks += b.checks
    a.applied += b.applied
    a.gaps += b.gaps
    a.split += b.split
    a.relayed += b.relayed
    a.fragments += b.fragments
    a.refused += b.refused
    a.waits += b.waits
    a.parts += b.parts
    a.isComplete = a.isComplete && b.isComplete
  }
}

extension ExplorerCounts: CustomStringConvertible {
  /// The counts in one line.
  public var description: String {
    let parts: [String] = [
      configurations.counted("configuration"),
      transitions.counted("transition"), checks.counted("check"),
      "deltas: \(applied.grouped) applied", "\(gaps.grouped) refused as gaps",
      "\(split.grouped) split", "\(relayed.grouped) relayed",
      "fragments: \(fragments.grouped) taken", "\(refused.grouped) refused",
      "\(waits.counted("interval")) blocked",
      "parts of transfers: \(self.parts)", states.counted("state"),
      messages.counted("message"),
      "\(executions.counted("execution")) of replicas",
    ]
    return parts.joined(separator: ", ") + (isComplete ? "" : ", not complete")
  }
}
