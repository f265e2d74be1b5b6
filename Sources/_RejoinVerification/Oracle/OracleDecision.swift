// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The decision which changes of one device are canceled, named by their saves.
///
/// It contains no sums. So the oracle counts each change once or not at all.
struct OracleDecision: Hashable {
  /// The last save whose changes were decided on, or zero without a decision.
  var decided: UInt64 = 0
  /// The number of times that the decision was turned.
  var turns: UInt64 = 0
  /// The last save whose changes are canceled, or zero.
  var canceled: UInt64 = 0

  /// Returns the decision after a reset that had seen the changes up to a save.
  fileprivate func canceling(upTo save: UInt64) -> OracleDecision {
    if save > decided {
      return OracleDecision(decided: save, canceled: save)
    }
    return canceled >= save ? self : turned(to: save)
  }

  /// Returns the decision turned to the changes up to a save.
  func turned(to save: UInt64) -> OracleDecision {
    OracleDecision(decided: decided, turns: turns + 1, canceled: save)
  }

  /// Returns the decision that a replica with both has.
  fileprivate func joined(with other: OracleDecision) -> OracleDecision {
    (decided, turns) < (other.decided, other.turns) ? other : self
  }

  /// The change of a decision by a save.
  struct Change: Hashable {
    let before: OracleDecision
    let after: OracleDecision
  }
}

extension OracleField {
  /// The decisions of the received saves, by device.
  var decisions: [DeviceID: OracleDecision] {
    heard.reduce(into: [:]) { decisions, save in
      for (device, change) in save.edit.decisions {
        decisions[device] =
          decisions[device]?.joined(with: change.after) ?? change.after
      }
    }
  }

  /// Returns the decisions of a reset that has seen some saves.
  func decisionsOfReset(
    seeing seen: SaveSet
  ) -> [DeviceID: OracleDecision.Change] {
    let decisions = decisions
    var changes: [DeviceID: OracleDecision.Change] = [:]
    for entry in lastAdditions(in: seen).entries {
      let before = decisions[entry.device] ?? OracleDecision()
      let after = before.canceling(upTo: entry.count)
      if after != before {
        changes[entry.device] = .init(before: before, after: after)
      }
    }
    return changes
  }

  /// Returns the decisions that turn some others back.
  ///
  /// - Returns: No decisions if another save changed one of them since.
  func decisions(
    turning changes: [DeviceID: OracleDecision.Change]
  ) -> [DeviceID: OracleDecision.Change] {
    let decisions = decisions
    guard changes.allSatisfy({ decisions[$0.key] == $0.value.after }) else {
      return [:]
    }
    return changes.mapValues {
      .init(before: $0.after, after: $0.after.turned(to: $0.before.canceled))
    }
  }
}

extension OracleReplica {
  /// Returns the decisions of an own save, as they are after all own undos that
  /// brought their content back.
  func decisions(
    of index: Int, in location: FieldLocation
  ) -> [DeviceID: OracleDecision.Change] {
    var changes = history.saves[index].edits[location]?.decisions ?? [:]
    for undo in knowledge.undos where undo.undone != index {
      let undone = history.saves[undo.undone].edits[location]?.decisions ?? [:]
      let turned = history.saves[undo.index].edits[location]?.decisions ?? [:]
      for (device, change) in changes
      where change.after == undone[device]?.before {
        guard let turn = turned[device] else { continue }
        changes[device] = .init(before: change.before, after: turn.after)
      }
    }
    return changes
  }
}
