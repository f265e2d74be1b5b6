// SPDX-License-Identifier: Apache-2.0

/// Saves that are undone in reverse order.
struct UndoStack: Sendable {
  /// The saves, the last one at the end.
  private(set) var entries: [UndoHistory.Entry] = []
  /// The number of saves that were removed from the start.
  private var removed = 0
  /// The numbers of the saves that changed each location, in order, or `nil`
  /// until an undo needs them.
  ///
  /// A number is the save's index before the removal of any save.
  private var indices: [UndoStep.Location: [Int]]?

  /// Creates a stack of saves, the last one at the end.
  init(_ entries: some Sequence<UndoHistory.Entry> = []) {
    self.entries = Array(entries)
  }

  /// The changes of the saves that are loaded.
  var saves: [UndoStep] { entries.compactMap(\.step) }

  /// The save that is undone first, or `nil` if the stack is empty.
  var last: UndoHistory.Entry? { entries.last }

  /// Adds a save that is undone before the others.
  mutating func append(_ save: UndoHistory.Entry) {
    for location in locations(of: save) {
      indices?[location, default: []].append(removed + entries.count)
    }
    entries.append(save)
    _checkInvariants()
  }

  /// Removes the save that would be undone last.
  mutating func removeFirst() {
    for location in locations(of: entries.removeFirst()) {
      indices?[location]?.removeFirst()
      if indices?[location]?.isEmpty == true { indices?[location] = nil }
    }
    removed += 1
    _checkInvariants()
  }

  /// Removes the save that would be undone first.
  mutating func removeLast() {
    for location in locations(of: entries.removeLast()) {
      indices?[location]?.removeLast()
      if indices?[location]?.isEmpty == true { indices?[location] = nil }
    }
    _checkInvariants()
  }

  /// Returns the locations that `indices` lists for a save.
  private func locations(of save: UndoHistory.Entry) -> [UndoStep.Location] {
    indices == nil ? [] : save.step?.changes.map(\.location) ?? []
  }

  /// Returns the indices of the saves that changed a location, in order.
  private func indices(of location: UndoStep.Location) -> [Int] {
    (indices?[location] ?? []).map { $0 - removed }
  }

  private mutating func createIndex() {
    if indices == nil { indices = listIndices() }
  }

  private func listIndices() -> [UndoStep.Location: [Int]] {
    var list: [UndoStep.Location: [Int]] = [:]
    for (i, save) in entries.enumerated() {
      for change in save.step?.changes ?? [] {
        list[change.location, default: []].append(removed + i)
      }
    }
    return list
  }

  /// Removes the last save after `undo` undid it.
  ///
  /// The undo restores changes of earlier saves under its own dot. The stack
  /// records their new dots.
  ///
  /// - Complexity: O(*c* log *c* + *m* log *n*), where *c* is the number of
  ///   changes of the last save. *m* is the number of earlier changes of a
  ///   counter or a ledger that it canceled, or of a location where it
  ///   superseded a write of another device. *n* is the number of changes of
  ///   their saves. The first call takes the time to list the locations of all
  ///   saves.
  mutating func removeLast(undoneBy undo: UndoStep) {
    let changes = last?.step?.changes ?? []
    createIndex()
    removeLast()
    for change in changes {
      let new = undo.changes.index(of: change.location).map { undo.changes[$0] }
      switch (change.content, new?.content) {
      case (.existence(let undone), _): follow(change, of: undone, to: new)
      case (.sums(let undone), .sums(let turned)?):
        follow(undone.decisions, to: turned.decisions, at: change.location)
      default: if let new, new.dot != nil { follow(change, to: new) }
      }
    }
    _checkInvariants()
  }

  private mutating func follow(
    _ change: UndoStep.Change, of undone: UndoStep.Existence,
    to new: UndoStep.Change?
  ) {
    var undo: UndoStep.Existence?
    if case .existence(let existence)? = new?.content { undo = existence }
    let device = change.save.dot.device
    for i in indices(of: change.location) {
      edit(i, at: change.location) { own in
        // Numbers of different devices cannot be compared.
        guard own.save.dot.device == device,
          new.map({ $0.save.dot.device == device }) ?? true,
          case .existence(let existence) = own.content
        else { return }
        // The undo writes the deletion of this save again.
        if let new, undo?.isDeletion == true, change.supersedes(own) {
          own.save = new.save
        }
        own.content = .existence(existence.following(undone, undo))
      }
    }
  }

  /// Records that an undo turned decisions back to those that earlier saves
  /// left.
  private mutating func follow(
    _ undone: [UndoStep.Decision], to turned: [UndoStep.Decision],
    at location: UndoStep.Location
  ) {
    if turned.isEmpty { return }
    for i in indices(of: location) {
      edit(i, at: location) { own in
        guard case .sums(var sums) = own.content else { return }
        for turn in turned {
          let before = undone.first { $0.device == turn.device }?.before
          for j in sums.decisions.indices
          where sums.decisions[j].device == turn.device
            && sums.decisions[j].after == before
          {
            sums.decisions[j].after = turn.after
          }
        }
        own.content = .sums(sums)
      }
    }
  }

  private mutating func follow(
    _ change: UndoStep.Change, to new: UndoStep.Change
  ) {
    // Two saves never leave changes under one dot.
    for i in indices(of: change.location).reversed() {
      let isFollowed = edit(i, at: change.location) { own in
        if change.supersedes(own) { own.save = new.save }
      }
      if isFollowed { return }
    }
  }

  /// Changes the step of a save, which a store must then write again.
  ///
  /// - Returns: Whether the step changed.
  @discardableResult
  private mutating func edit(
    _ i: Int, at location: UndoStep.Location,
    _ body: (inout UndoStep.Change) -> Void
  ) -> Bool {
    guard let index = entries[i].step?.changes.index(of: location),
      var change = entries[i].step?.changes[index]
    else { return false }
    let old = change
    body(&change)
    if change == old { return false }
    entries[i].step?.changes[index] = change
    entries[i].isStored = false
    return true
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
  mutating func setStored(_ isStored: (UndoHistory.Entry) -> Bool) {
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
      precondition(
        indices == listIndices(), "a save is not listed at its locations")
    }
  #else
    func _checkInvariants() {}
  #endif
}
