// SPDX-License-Identifier: Apache-2.0

/// An edit that a save applies to a field, and the state that its author
/// observed.
package struct EditContext {
  /// The edit, or `nil` to drop the observed content.
  var edit: FieldEdit?
  /// The save.
  let dot: Dot
  /// The timestamp of the save.
  let time: Timestamp
  /// The state that the author observed, or `nil` for the current state.
  @Rare var observed: FieldState? = nil
  /// Whether the save first drops the observed content, because it re-creates
  /// or purges the record.
  var drops = false
  /// The content that an undo takes out, or `nil` for other edits.
  @Rare var retraction: Retraction? = nil

  /// Whether the author observed all content of the field.
  var observesAll: Bool { !$observed && !$retraction }
}

/// A value that few instances of a struct have, which makes the others smaller
/// and faster to copy.
@propertyWrapper
package struct Rare<Content: Sendable>: Sendable {
  private indirect enum Storage: Sendable {
    case none
    case some(Content)
  }

  private var storage: Storage

  package init(wrappedValue: Content?) {
    storage = wrappedValue.map { .some($0) } ?? .none
  }

  package var wrappedValue: Content? {
    get { if case .some(let content) = storage { content } else { nil } }
    set { storage = newValue.map { .some($0) } ?? .none }
  }

  /// Whether there is a value.
  package var projectedValue: Bool {
    if case .some = storage { true } else { false }
  }
}

/// The content that the undo of a save removes from a field or brings back.
package struct Retraction: Hashable, Sendable {
  /// The dot of a write or a mark, or `nil` for other content.
  package var dot: Dot?
  /// The time of the write that replaces it, or `nil` without such a write.
  package var time: Timestamp?
  /// The dots of elements of a set.
  package var elements: [Value: Dot] = [:]
  /// The decisions which changes of devices are canceled in a counter or a
  /// ledger.
  package var turns: [DeviceID: Cancellation] = [:]
}

/// The dots that the edit of a save supersedes.
enum Observed: DotSet {
  case all
  case those(in: VectorClock)
  case only(Dot?)

  init(_ save: EditContext) {
    self =
      if let retraction = save.retraction {
        .only(retraction.dot)
      } else if let clock = save.observed?.clock {
        .those(in: clock)
      } else { .all }
  }

  func contains(_ dot: Dot) -> Bool {
    switch self {
    case .all: true
    case .those(let clock): clock.contains(dot)
    case .only(let only): dot == only
    }
  }
}

extension FieldState {
  /// Applies the edit of a save.
  ///
  /// - Returns: The unobserved writes that the edit superseded because they
  ///   have the greatest timestamp.
  mutating func apply(_ save: EditContext) -> [Siblings<Stamped>.Element] {
    enum Apply: FieldChanging {
      static func apply<Store: FieldStore>(
        _ save: EditContext, to field: inout Causal<Store>
      ) -> [Siblings<Stamped>.Element] {
        field.apply(save)
      }
    }
    return change(Apply.self, save)
  }
}

extension Causal where Store: FieldStore {
  /// Applies the edit of a save.
  @inline(__always)
  mutating func apply(_ save: EditContext) -> [Siblings<Stamped>.Element] {
    let observed = save.observed?.store(of: Store.self)
    return update(at: save.dot) { $0.apply(save, observed: observed) }
  }
}
