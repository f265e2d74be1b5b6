// SPDX-License-Identifier: Apache-2.0

/// Saves that are undone in reverse order.
struct UndoStack: Sendable {
  /// The saves, the last one at the end.
  private(set) var entries: [UndoEntry] = []
  /// The number of saves that were removed from the start.
  private var removed = 0
  /// The numbers of the saves that changed each place, in order, or `nil` until
  /// an undo needs them.
  ///
  /// A number is the save's index before the removal of any save.
  private var indices: [UndoStep.Place: [Int]]?

  /// Creates a stack of saves, the last one at the end.
  init(_ entries: some Sequence<UndoEntry> = []) {
    self.entries = Array(entries)
  }

  /// The changes of the saves that are loaded.
  var saves: [UndoStep] { entries.compactMap(\.step) }

  /// The save that is undone first, or `nil` if the stack is empty.
  var last: UndoEntry? { entries.last }

  /// Adds a save that is undone before the others.
  mutating func append(_ save: UndoEntry) {
    for place in places(of: save) {
      indices?[place, default: []].append(removed + entries.count)
    }
    entries.append(save)
    _checkInvariants()
  }

  /// Removes the save that would be undone last.
  mutating func removeFirst() {
    for place in places(of: entries.removeFirst()) {
      indices?[place]?.removeFirst()
      if indices?[place]?.isEmpty == true { indices?[place] = nil }
    }
    removed += 1
    _checkInvariants()
  }

  /// Removes the save that would be undone first.
  mutating func removeLast() {
    for place in places(of: entries.removeLast()) {
      indices?[place]?.removeLast()
      if indices?[place]?.isEmpty == true { indices?[place] = nil }
    }
    _checkInvariants()
  }

  /// Returns the places that `indices` lists for a save.
  private func places(of save: UndoEntry) -> [UndoStep.Place] {
    indices == nil ? [] : save.step?.changes.keys ?? []
  }

  /// Returns the indices of the saves that changed a place, in order.
  private func indices(of place: UndoStep.Place) -> [Int] {
    (indices?[place] ?? []).map { $0 - removed }
  }

  private mutating func createIndex() {
    if indices != nil { return }
    var new: [UndoStep.Place: [Int]] = [:]
    for (i, save) in entries.enumerated() {
      for place in save.step?.changes.keys ?? [] {
        new[place, default: []].append(removed + i)
      }
    }
    indices = new
  }

  /// Removes the last save after `undo` undid it.
  ///
  /// The undo restores changes of earlier saves under its own dot. The stack
  /// records their new dots.
  ///
  /// - Complexity: O(*c* log *c* + *m* log *n*), where *c* is the number of
  ///   changes of the last save. *m* is the number of earlier changes of a
  ///   counter or a ledger that it canceled, or of a place where it superseded
  ///   a write of another device. *n* is the number of changes of their saves.
  ///   The first call takes the time to list the places of all saves.
  mutating func removeLast(undoneBy undo: UndoStep) {
    let changes = last?.step?.changes ?? UndoChanges()
    createIndex()
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
      guard let own = self.change(i, at: place), own.save.dot.device == device,
        new.map({ $0.save.dot.device == device }) ?? true,
        case .existence(let existence)? = own.before
      else { continue }
      edit(i, at: place) {
        $0.before = .existence(existence.following(undone, undo))
      }
      // The undo writes the deletion of this save again.
      if let new, undo?.isDeletion == true, change.supersedes(own) {
        edit(i, at: place) { $0.save = new.save }
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
      guard case .sums(let amounts, var own)? = change(i, at: place)?.before
      else { continue }
      for (device, turn) in turned
      where own[device]?.after == undone[device]?.before {
        own[device]?.after = turn.after
      }
      edit(i, at: place) { $0.before = .sums(amounts, own) }
    }
  }

  private mutating func follow(
    _ change: UndoStep.Change, to new: UndoStep.Change,
    at place: UndoStep.Place
  ) {
    for i in indices(of: place).reversed() {
      guard let own = self.change(i, at: place), change.supersedes(own)
      else { continue }
      edit(i, at: place) { $0.save = new.save }
      // Two saves never leave changes under one dot.
      return
    }
  }

  private func change(
    _ i: Int, at place: UndoStep.Place
  ) -> UndoStep.Change? {
    entries[i].step?.changes[place]
  }

  /// Changes the step of a save, which a store must then write again.
  private mutating func edit(
    _ i: Int, at place: UndoStep.Place,
    _ body: (inout UndoStep.Change) -> Void
  ) {
    guard var change = self.change(i, at: place) else { return }
    let old = change
    body(&change)
    if change == old { return }
    entries[i].step?.changes[place] = change
    entries[i].isStored = false
  }
}

extension UndoStep.Change {
  /// Returns whether restoring the superseded content restores `earlier`.
  fileprivate func supersedes(_ earlier: Self) -> Bool {
    earlier.dot.map { $0 == superseded } ?? false
  }
}

// The steps that a store has.
extension UndoStack {
  /// Whether every step is loaded.
  var isLoaded: Bool { entries.allSatisfy { $0.step != nil } }

  /// Sets the steps that are not loaded yet.
  mutating func load(_ steps: [Dot: UndoStep]) {
    for i in entries.indices where entries[i].step == nil {
      entries[i].step = steps[entries[i].dot]
    }
    indices = nil
  }

  /// Whether an undo needed the steps.
  var isIndexed: Bool { indices != nil }

  /// Removes the steps, which a store has, from memory.
  mutating func unload() {
    for i in entries.indices { entries[i].step = nil }
  }

  /// Removes the saves whose steps are not loaded.
  mutating func removeUnloaded() {
    entries.removeAll { $0.step == nil }
    (indices, removed) = (nil, 0)
  }

  /// Sets whether a store has each step exactly as it is.
  mutating func mark(_ isStored: (UndoEntry) -> Bool) {
    for i in entries.indices { entries[i].isStored = isStored(entries[i]) }
  }
}

extension UndoStack: Hashable {
  // The saves determine `indices`, and `removed` does not matter.
  static func == (a: UndoStack, b: UndoStack) -> Bool { a.entries == b.entries }

  func hash(into hasher: inout Hasher) { hasher.combine(entries) }
}

extension UndoStack {
  #if REJOIN_CHECK_INVARIANTS
    /// Checks that `indices` lists each change of each save once.
    func _checkInvariants() {
      guard let indices else { return }
      var expected: [UndoStep.Place: [Int]] = [:]
      for (i, save) in entries.enumerated() {
        for place in save.step?.changes.keys ?? [] {
          expected[place, default: []].append(removed + i)
        }
      }
      precondition(indices == expected, "a save is not listed at its places")
    }
  #else
    func _checkInvariants() {}
  #endif
}
