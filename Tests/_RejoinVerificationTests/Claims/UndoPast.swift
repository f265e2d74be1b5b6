// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import _RejoinVerification

/// A history of two replicas, and saves that may follow.
struct UndoPast {
  let (one, other): (Replica, Replica)
  var saves: [[ScriptVerb]]

  init(_ seed: UInt64) {
    let clock = ManualClock()
    func replica(_ device: UInt64) -> Replica {
      Replica(
        device: DeviceID(device), schema: UndoLawTests.universe.schema,
        wallClock: clock.wallClock, makeDeviceID: { DeviceID(device + 100) })
    }
    (one, other) = (replica(1), replica(2))
    if seed.isMultiple(of: 2) {
      one.sendFragments()
      other.sendFragments()
    }
    saves = []
    let replicas = [one, other]
    for step in ScriptGenerator.script(seed: seed, steps: 40, devices: 2)
      .steps
    {
      switch step {
      case .save(let i, let verbs) where i < 2:
        if saves.count < 3, seed % 7 != 0 {
          saves.append(verbs)
        } else {
          _ = try? replicas[i].save { transaction in
            transaction.perform(verbs)
          }
        }
      case .sync(let i, let j) where max(i, j) < 2:
        replicas[j].merge(replicas[i])
      case .setClock(_, let now): clock.now = now
      default: break
      }
    }
    while saves.count < 3 { saves.append([]) }
  }
}

extension UndoLawTests {
  func copy(_ replica: Replica) -> Replica {
    Replica(
      opening: replica.state, token: replica.restoreToken,
      schema: Self.universe.schema, wallClock: ManualClock().wallClock,
      makeDeviceID: { DeviceID(99) })
  }

  /// Returns the fields whose state does not show whether the other device
  /// superseded the same content.
  static func exceptions(
    _ mine: [ScriptVerb], _ theirs: [ScriptVerb], creating dead: Set<RecordID>
  ) -> Set<FieldLocation> {
    func edits(_ verbs: [ScriptVerb], _ location: FieldLocation) -> [FieldEdit]
    {
      verbs.compactMap {
        if case .edit(location.record, location.field, let edit) = $0 {
          edit
        } else {
          nil
        }
      }
    }
    func drops(_ verbs: [ScriptVerb], _ id: RecordID) -> Bool {
      verbs.contains { verb in
        if case .delete(id) = verb { return true }
        return verb.id == id && dead.contains(id)
      }
    }
    /// Returns whether a new mark supersedes those that its author saw.
    func hasMarks(_ kind: FieldKind) -> Bool {
      FieldState(kind).read { store in
        let content = store.undoContent(of: nil, by: DeviceID(0))
        return if case .siblings(let marks) = content {
          marks.rule == .any
        } else { false }
      }
    }
    func supersedes(_ edits: [FieldEdit], byInserting: Bool) -> Bool {
      edits.contains { $0.removes || byInserting && hasMarks($0.kind) }
    }
    return Set(
      universe.locations.filter { location in
        let (ours, others) = (edits(mine, location), edits(theirs, location))
        return drops(theirs, location.record)
          || (drops(mine, location.record)
            || supersedes(ours, byInserting: true))
            && supersedes(others, byInserting: false)
      })
  }
}
