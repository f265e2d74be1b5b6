// SPDX-License-Identifier: Apache-2.0

/// Saves that are undone in reverse order.
struct UndoStack: Sendable {
  /// The saves, the last one at the end.
  private(set) var saves: [UndoStep] = []
  /// The number of saves that were removed from the start.
  private var removed = 0
  /// The numbers of the saves that changed each place, in order.
  ///
  /// A number is the save's index before the removal of any save.
  private var indices: [UndoStep.Place: [Int]] = [:]

  /// Creates a stack of saves, the last one at the end.
  init(_ saves: some Sequence<UndoStep> = []) {
    for save in saves { append(save) }
  }

  /// The save that is undone first, or `nil` if the stack is empty.
  var last: UndoStep? { saves.last }

  /// Adds a save that is undone before the others.
  mutating func append(_ save: UndoStep) {
    for place in save.changes.keys {
      indices[place, default: []].append(removed + saves.count)
    }
    saves.append(save)
    _checkInvariants()
  }

  /// Removes the save that would be undone last.
  mutating func removeFirst() {
    for place in saves.removeFirst().changes.keys {
      indices[place]?.removeFirst()
      if indices[place]?.isEmpty == true { indices[place] = nil }
    }
    removed += 1
    _checkInvariants()
  }

  /// Removes the save that would be undone first.
  mutating func removeLast() {
    for place in saves.removeLast().changes.keys {
      indices[place]?.removeLast()
      if indices[place]?.isEmpty == true { indices[place] = nil }
    }
    _checkInvariants()
  }

  /// Returns the indices of the saves that changed a place, in order.
  private func indices(of place: UndoStep.Place) -> [Int] {
    (indices[place] ?? []).map { $0 - removed }
  }

  /// Removes the last save after `undo` undid it.
  ///
  /// The undo restores changes of earlier saves under its own dot. The stack
  /// records their new dots.
  ///
  /// - Complexity: O(*c* + *m*), where *c* is the number of changes of the last
  ///   save. *m* is the number of earlier changes of a counter or a ledger that
  ///   it canceled, or of a place where it superseded a write of another device.
  mutating func removeLast(undoneBy undo: UndoStep) {
    let changes = saves.last?.changes ?? [:]
    removeLast()
    for (place, change) in changes {
      let new = undo.changes[place]
      switch (change.before, new?.before) {
      case (.existence(let undone)?, _):
        follow(change, of: undone, to: new, at: place)
      case (.sums(_, let undone)?, .sums(_, let turned)?):
        follow(undone, to: turned, at: place)
      default:
        if let new, new.isThere { follow(change, to: new, at: place) }
      }
    }
    _checkInvariants()
  }

  private mutating func follow(
    _ change: UndoStep.Change, of undone: UndoStep.Existence,
    to new: UndoStep.Change?, at place: UndoStep.Place
  ) {
    var undo: UndoStep.Existence?
    if case .existence(let existence)? = new?.before { undo = existence }
    let device = change.save.dot.device
    for i in indices(of: place) {
      // Numbers of different devices cannot be compared.
      guard let own = saves[i].changes[place], own.save.dot.device == device,
        new.map({ $0.save.dot.device == device }) ?? true,
        case .existence(let existence)? = own.before
      else { continue }
      saves[i].changes[place]?.before =
        .existence(existence.following(undone, undo))
      // The undo writes the deletion of this save again.
      if let new, undo?.isDeletion == true, change.supersedes(own) {
        saves[i].changes[place]?.save = new.save
      }
    }
  }

  /// Records that an undo turned decisions back to those that earlier saves
  /// left.
  private mutating func follow(
    _ undone: [DeviceID: UndoStep.Decision],
    to turned: [DeviceID: UndoStep.Decision], at place: UndoStep.Place
  ) {
    if turned.isEmpty { return }
    for i in indices(of: place) {
      guard case .sums(let amounts, var own)? = saves[i].changes[place]?.before
      else { continue }
      for (device, turn) in turned
      where own[device]?.after == undone[device]?.before {
        own[device]?.after = turn.after
      }
      saves[i].changes[place]?.before = .sums(amounts, own)
    }
  }

  private mutating func follow(
    _ change: UndoStep.Change, to new: UndoStep.Change,
    at place: UndoStep.Place
  ) {
    for i in indices(of: place).reversed() {
      guard let own = saves[i].changes[place], change.supersedes(own) else {
        continue
      }
      saves[i].changes[place]?.save = new.save
      // Two saves never leave changes under one dot.
      return
    }
  }
}

extension UndoStep.Change {
  /// Returns whether restoring the superseded content restores `earlier`.
  fileprivate func supersedes(_ earlier: Self) -> Bool {
    earlier.dot.map { $0 == superseded } ?? false
  }
}

extension UndoStack: Hashable {
  // The saves determine `indices`, and `removed` does not matter.
  static func == (a: UndoStack, b: UndoStack) -> Bool { a.saves == b.saves }

  func hash(into hasher: inout Hasher) { hasher.combine(saves) }
}

extension UndoStack {
  #if REJOIN_CHECK_INVARIANTS
    /// Checks that `indices` lists each change of each save once.
    func _checkInvariants() {
      var expected: [UndoStep.Place: [Int]] = [:]
      for (i, save) in saves.enumerated() {
        for place in save.changes.keys {
          expected[place, default: []].append(removed + i)
        }
      }
      precondition(indices == expected, "a save is not listed at its places")
    }
  #else
    func _checkInvariants() {}
  #endif
}
