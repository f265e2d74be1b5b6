// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// One device's edits as the device itself saw them: each edit had seen the base
/// and the edits before it.
struct History {
  var steps: [Step] = []
  /// Whether the last thing the device did was to delete the record.
  var isDeleted = false

  /// One edit.
  struct Step {
    let edit: Episode.Edit
    /// Whether the edit creates the record after a deletion that its device
    /// had made, which gives up everything it had seen before.
    let startsAfresh: Bool
  }

  /// The verbs on one field, in order.
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

  /// What an edit does to one field.
  enum Verb {
    case forget, clear
    case set(Value)
    case remove([Value]), insert([Value])
    case add(Int64)
  }
}

extension Episode {
  /// The history of every device that did something.
  ///
  /// Saving nothing and deleting what is not there leave no trace.
  var histories: [History] {
    devices.compactMap { device in
      var history = History()
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
