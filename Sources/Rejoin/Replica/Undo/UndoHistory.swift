// SPDX-License-Identifier: Apache-2.0

/// The saves of a replica that can be undone and redone, in order.
///
///     try phone.save(undoable: "Rename") { $0[Profile.self, "ada"].name = "Ada" }
///     phone.undoHistory.undoName  // "Rename"
///     try phone.undo()
///     phone.undoHistory.redoName  // "Rename"
///
/// A store keeps the history in its file. An app that stores a ``Replica``
/// itself can encode ``Replica/undoHistory`` with it, and set the history when
/// it opens the replica again:
///
///     let data = try JSONEncoder().encode(phone.undoHistory)
///     phone.undoHistory = try JSONDecoder().decode(UndoHistory.self, from: data)
///
/// If the app restores a backup of the replica, it must restore the history of
/// the same backup. Otherwise, an undo skips the changes that the replica
/// lacks.
///
/// An undo restores content that earlier saves wrote in the same locations. The
/// history records where this content is now, so those saves can be undone as
/// well. This is the linear undo of "Undo and Redo Support for Replicated
/// Registers" (Stewen, Kleppmann, 2024), for all kinds of fields.
public struct UndoHistory: Hashable, Sendable {
  /// The maximum number of saves that can be undone.
  ///
  /// Beyond this limit, the earliest save is removed, so a stored history stays
  /// small. A store also removes the earliest saves if their changes take more
  /// than 4 MiB.
  public static let limit = 100

  /// The saves that can be undone.
  private(set) var done = UndoStack()
  /// The saves that can be redone.
  private(set) var undone = UndoStack()

  /// Creates an empty history.
  public init() {}

  /// Creates a history of steps, without those that no save can have.
  init(done: [UndoStep], undone: [UndoStep]) {
    func stack(_ steps: [UndoStep]) -> UndoStack {
      let entries = steps.filter { $0.changes.allSatisfy(\.isOfField) }
        .compactMap { Entry($0) }
      return UndoStack(entries.suffix(Self.limit))
    }
    (self.done, self.undone) = (stack(done), stack(undone))
  }

  /// Creates a history of saves whose steps a store has.
  package init(
    storedDone done: [(dot: Dot, name: String?)],
    undone: [(dot: Dot, name: String?)]
  ) {
    func stack(_ saves: [(dot: Dot, name: String?)]) -> UndoStack {
      UndoStack(saves.suffix(Self.limit).map { Entry(stored: $0.dot, $0.name) })
    }
    (self.done, self.undone) = (stack(done), stack(undone))
  }

  /// The name of the save that is undone next, or `nil` if no save can be
  /// undone.
  public var undoName: String? { done.last.map { $0.name ?? "" } }

  /// The name of the save that is redone next, or `nil` if no save was undone
  /// or another save came after it.
  public var redoName: String? { undone.last.map { $0.name ?? "" } }

  /// Removes the save that would be undone next, so the save before it can be
  /// undone.
  ///
  /// Use it if later writes prevent the undo. The record keeps its content.
  public mutating func discardUndo() {
    if done.last != nil { done.removeLast() }
  }

  /// Removes the save that would be redone next, so the save before it can be
  /// redone.
  ///
  /// Use it if later writes prevent the redo. The record keeps its content.
  public mutating func discardRedo() {
    if undone.last != nil { undone.removeLast() }
  }

  /// The save that is undone next, or `nil` if no save can be undone.
  package var undo: UndoStep? { done.last?.step }

  /// The undo that is undone next, or `nil` if no save can be redone.
  package var redo: UndoStep? { undone.last?.step }

  /// Adds a save.
  ///
  /// If the save undoes ``undo`` or ``redo``, that step moves to the other
  /// stack. If it changed nothing because of later writes, both stacks stay
  /// unchanged. Any other save becomes the next one to undo and clears the
  /// saves to redo. A save that was not ``Transaction/isUndoable`` counts as a
  /// save of another user.
  ///
  /// - Complexity: O(*c*), where *c* is the number of changes of the save. If
  ///   the save undoes one that canceled a counter or a ledger, or superseded
  ///   writes of other devices, O(*c* · *n*), where *n* is the number of saves
  ///   in the history that changed the same locations. Each of them may have
  ///   to follow the restored content. The first undo also lists the locations
  ///   of all saves in the history.
  package mutating func append(_ report: SaveReport) {
    guard let save = report.undo else { return }
    let isEmpty = save.changes.isEmpty
    if isEmpty, !report.unrevertedFields.isEmpty { return }
    let entry = isEmpty ? nil : Entry(save)
    if let dot = save.undone, dot == done.last?.dot {
      done.removeLast(undoneBy: save)
      if let entry { undone.append(entry) }
    } else if let dot = save.undone, dot == undone.last?.dot {
      undone.removeLast(undoneBy: save)
      if let entry { add(entry) }
    } else if let entry {
      add(entry)
      undone = UndoStack()
    }
  }

  private mutating func add(_ save: Entry) {
    done.append(save)
    if done.entries.count > Self.limit { done.removeFirst() }
  }
}

// The steps that a store has.
extension UndoHistory {
  /// The saves that can be undone, and those that can be redone, loaded or not.
  package var entries: (done: [Entry], undone: [Entry]) {
    (done.entries, undone.entries)
  }

  /// Whether every step is loaded.
  var isLoaded: Bool { done.isLoaded && undone.isLoaded }

  /// Sets the steps that are not loaded yet.
  ///
  /// If a step is missing, removes all saves that were not loaded: an undo of
  /// one of them may need the step.
  mutating func load(_ steps: [Dot: UndoStep]) {
    let missing = (done.entries + undone.entries)
      .contains { $0.step == nil && steps[$0.dot] == nil }
    if missing {
      done.removeUnloaded()
      undone.removeUnloaded()
    } else {
      done.load(steps)
      undone.load(steps)
    }
  }

  /// Removes the save that would be undone last, or redone last.
  package mutating func removeFirst(undone isUndone: Bool) {
    if isUndone { undone.removeFirst() } else { done.removeFirst() }
  }

  /// Records that a store has every step.
  ///
  /// The steps stay in memory only if a save was undone.
  package mutating func recordStored() {
    setStored { _ in true }
    if done.isIndexed || undone.isIndexed { return }
    done.unload()
    undone.unload()
  }

  /// Records which steps a store has, if it has those of `stored`.
  mutating func recordStored(asIn stored: UndoHistory) {
    var known: [Dot: Entry] = [:]
    for entry in stored.done.entries + stored.undone.entries
    where entry.isStored {
      known[entry.dot] = entry
    }
    setStored { known[$0.dot] == $0 }
  }

  private mutating func setStored(_ isStored: (Entry) -> Bool) {
    done.setStored(isStored)
    undone.setStored(isStored)
  }
}

extension UndoHistory {
  /// A save in an undo history.
  package struct Entry: Sendable {
    package let dot: Dot
    /// The name for the menu, or `nil` without one.
    package let name: String?
    /// The changes of the save, or `nil` until they are loaded from a store.
    package internal(set) var step: UndoStep?
    /// Whether a store has this step exactly as it is.
    package internal(set) var isStored = false

    /// Creates the entry of a step, or returns `nil` if the step has no save.
    init?(_ step: UndoStep) {
      guard let dot = step.dot, dot.sequence > 0 else { return nil }
      (self.dot, name, self.step) = (dot, step.name, step)
    }

    /// Creates the entry of a save whose step a store has.
    init(stored dot: Dot, _ name: String?) {
      (self.dot, self.name, isStored) = (dot, name, true)
    }
  }
}

extension UndoHistory.Entry: Hashable {
  // A history is the same whether or not a store has it.
  package static func == (a: UndoHistory.Entry, b: UndoHistory.Entry) -> Bool {
    a.dot == b.dot && a.name == b.name && a.step == b.step
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(dot)
    hasher.combine(name)
    hasher.combine(step)
  }
}

extension UndoHistory: Codable {
  private struct Saves: Codable { let done, undone: [UndoStep] }

  /// Encodes the saves that can be undone, and those that can be redone.
  public func encode(to encoder: any Encoder) throws {
    try Saves(done: done.saves, undone: undone.saves).encode(to: encoder)
  }

  /// Decodes the saves that can be undone, and those that can be redone.
  public init(from decoder: any Decoder) throws {
    let saves = try Saves(from: decoder)
    self.init(done: saves.done, undone: saves.undone)
  }
}
