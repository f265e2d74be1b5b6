// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The edits of one device.
///
/// Each edit had seen only the base and the device's earlier edits.
struct History {
  let device: String
  var steps: [Step] = []
  /// Whether the record is deleted after the device's last edit.
  var isDeleted = false

  /// One edit.
  struct Step {
    let edit: Episode.Edit
    /// Whether the edit creates the record again after the device deleted it.
    ///
    /// Creating it again drops all content that the device had seen.
    let startsAfresh: Bool
  }

  /// Returns the verbs on one field in order.
  func verbs(on field: String) -> [Verb] {
    steps.flatMap { step -> [Verb] in
      var verbs: [Verb] = step.startsAfresh ? [.forget] : []
      let edit = step.edit
      if edit.clear.contains(field) { verbs.append(.clear) }
      if let value = edit.set[field] { verbs.append(.set(value)) }
      if let gone = edit.remove[field] { verbs.append(.remove(gone)) }
      if let new = edit.insert[field] { verbs.append(.insert(new)) }
      if let amount = edit.increment[field] { verbs.append(.add(amount)) }
      return verbs
    }
  }

  /// The action of an edit on one field.
  enum Verb {
    case forget, clear
    case set(Value)
    case remove([Value]), insert([Value])
    case add(Int64)
  }
}

extension Episode {
  /// The histories of the devices that changed the record.
  ///
  /// An empty save does not change it, nor does the deletion of a missing
  /// record.
  var histories: [History] {
    devices.compactMap { device in
      var history = History(device: device)
      var exists = base != nil
      var wasDeleted = false
      for edit in edits where edit.device == device && !edit.isEmpty {
        if edit.isDeletion && !exists { continue }
        let startsAfresh = !edit.isDeletion && !exists && wasDeleted
        history.steps.append(.init(edit: edit, startsAfresh: startsAfresh))
        exists = !edit.isDeletion
        wasDeleted = edit.isDeletion
      }
      history.isDeleted = !exists
      return history.steps.isEmpty ? nil : history
    }
  }
}
