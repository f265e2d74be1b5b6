// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies

extension RejoinTeam {
  /// Applies an edit in the context of its device.
  mutating func edit(_ edit: Episode.Edit) {
    guard let index = indices[edit.device] else { return }
    members[index].clock.now = edit.at
    if edit.isDeletion { return contexts[index].delete(Self.id) }
    for (field, change) in edit.fieldEdits(of: episode.kinds) {
      contexts[index].apply(change, to: key(field), in: Self.id)
    }
  }

  /// Saves the context of a device, unless its policy refuses.
  mutating func saveContext(of device: String) throws {
    guard let index = indices[device] else { return }
    let report: ContextReport
    do {
      report = try contexts[index].save()
    } catch {
      guard case .conflict(let refused) = error else { throw error }
      for field in refused.conflicts.flatMap(\.fields) {
        addReported(field.mine, FieldKey(field.field, .register))
        addReported(field.store, FieldKey(field.field, .register))
      }
      unsaved.updateValue(shown(in: contexts[index], device), forKey: index)
      return
    }
    for dropped in report.dropped {
      guard let key = dropped.field else { continue }
      switch dropped.content {
      case .value(let lost, _): addReported(lost.value, key)
      case .overwritten(let state): addReported(state, key)
      case .edit: addReported(ownContent(of: key, on: device), key)
      case .deletion, .creation: break
      }
    }
  }

  /// Returns the record that a device shows if it could not save, or `nil` if
  /// the device deleted it.
  private func shown(
    in context: EditingContext, _ device: String
  ) -> PlainRecord? {
    let last = episode.uploads.last { $0.device == device }
    guard last?.after != nil else { return nil }
    var shown: PlainRecord = [:]
    for key in episode.keys {
      let field = Episode.field(of: key)
      switch key.kind {
      case .counter: shown[field] = .count(context.count(of: key, in: Self.id))
      case .set:
        shown[field] = .elements(Set(context.elements(of: key, in: Self.id)))
      default:
        shown[field] = context.value(of: key, in: Self.id).map(Content.value)
      }
    }
    return shown
  }

  /// Returns the content of a field in a device's own copy, after its edits.
  private func ownContent(of key: FieldKey, on device: String) -> Content? {
    let last = episode.uploads.last { $0.device == device }
    return last?.after?[Episode.field(of: key)]
  }

  private mutating func addReported(_ state: FieldState, _ key: FieldKey) {
    switch key.kind {
    case .counter: addReported(.count(state.count), key)
    case .set: addReported(.elements(Set(state.elements)), key)
    default: for write in state.writes { addReported(write.value, key) }
    }
  }

  private mutating func addReported(_ value: Value?, _ key: FieldKey) {
    addReported(value.map(Content.value), key)
  }

  private mutating func addReported(_ content: Content?, _ key: FieldKey) {
    reported[Episode.field(of: key), default: []].insert(content)
  }
}
