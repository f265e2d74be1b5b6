// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

/// What an explorer has done.
public struct ExplorerCounts: Hashable, Sendable {
  /// The distinct configurations: the states of three replicas, the saves that are
  /// still to be made, and the messages that are kept.
  public internal(set) var configurations = 0
  /// The steps from one configuration to another or to itself.
  public internal(set) var transitions = 0
  /// The distinct states of replicas.
  public internal(set) var states = 0
  /// The distinct messages.
  public internal(set) var messages = 0
  /// The saves, messages and deliveries that the replicas' own code carried out.
  public internal(set) var executions = 0
  /// The comparisons with the oracle and of states with each other.
  public internal(set) var checks = 0
  /// The transitions that delivered a message, whole or in part.
  public internal(set) var applied = 0
  /// Those of them that left a gap.
  public internal(set) var gaps = 0
  /// Those of them that delivered one half of a message.
  public internal(set) var split = 0
  /// Those of them that brought saves of both other devices, so that at least one
  /// was passed on.
  public internal(set) var relayed = 0
  /// The fragments that the replicas' own code took.
  public internal(set) var fragments = 0
  /// The fragments that it refused, at least in part.
  public internal(set) var refused = 0
  /// The intervals that waited for something that was refused.
  public internal(set) var waits = 0
  /// The parts of transfers that it took.
  public internal(set) var parts = PartCounts()
  /// Whether every configuration that can be reached has been met.
  public internal(set) var isComplete = true

  /// Creates counts of nothing.
  public init() {}

  /// Adds what was done elsewhere.
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
