// SPDX-License-Identifier: Apache-2.0

/// A save in an undo history.
package struct UndoEntry: Sendable {
  package let dot: Dot
  /// The name for the menu, or `nil` without one.
  package let name: String?
  /// The changes of the save, or `nil` until they are loaded from a store.
  package internal(set) var step: UndoStep?
  /// Whether a store has this step exactly as it is.
  package internal(set) var isStored = false

  /// Creates the entry of a step, or returns `nil` if the step has no save.
  init?(_ step: UndoStep) {
    guard let dot = step.dot else { return nil }
    (self.dot, name, self.step) = (dot, step.name, step)
  }

  /// Creates the entry of a save whose step a store has.
  package init(stored dot: Dot, name: String?) {
    (self.dot, self.name, isStored) = (dot, name, true)
  }
}

extension UndoEntry: Hashable {
  // A history is the same whether or not a store has it.
  package static func == (a: UndoEntry, b: UndoEntry) -> Bool {
    a.dot == b.dot && a.name == b.name && a.step == b.step
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(dot)
    hasher.combine(name)
    hasher.combine(step)
  }
}
