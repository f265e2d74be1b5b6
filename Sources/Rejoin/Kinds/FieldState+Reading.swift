// SPDX-License-Identifier: Apache-2.0

extension FieldState {
  /// The values to show in a newer field of another kind, or `nil` if no save
  /// wrote the field.
  package var shownValues: [Value]? { read { $0.shownValues } }

  /// Whether no save touched the field.
  var isInitial: Bool { readField { $0.isInitial } }

  /// Returns whether a set contains an element.
  func contains(_ element: Value) -> Bool {
    store(of: DotMap.self)?.contains(element) ?? false
  }

  /// Whether the field has content that a re-creation of the record drops.
  package var hasContent: Bool { read { $0.hasContent } }

  /// Returns whether both states show the same content.
  public func shows(sameAs other: FieldState) -> Bool {
    func compare<Store: FieldStore>(_ store: Store) -> Bool {
      other.store(of: Store.self).map(store.shows) ?? false
    }
    return read { compare($0) }
  }

  /// Returns the edit that makes this field show what `other` shows after
  /// `edit`, or `nil` if it already does.
  package func overwriting(
    with other: FieldState, after edit: FieldEdit?
  ) -> (edit: FieldEdit, supersedesAll: Bool)? {
    func overwriting<Store: FieldStore>(
      _ store: Store
    ) -> (edit: FieldEdit, supersedesAll: Bool)? {
      other.store(of: Store.self)
        .flatMap { store.overwriting(with: $0, after: edit) }
    }
    return read { overwriting($0) }
  }

  /// Returns the content that the join of `part` may change.
  func content(changedBy part: FieldState) -> FieldState {
    func content<Store: FieldStore>(_ store: Store) -> FieldState {
      let content = part.store(of: Store.self).map(store.content(changedBy:))
      return FieldState(Causal(content ?? store, clock))
    }
    return read { content($0) }
  }

  /// Returns the dots with different content in the two states.
  func equivocations(with other: FieldState) -> [Dot] {
    func compare<Store: FieldStore>(_ store: Store) -> [Dot] {
      other.store(of: Store.self).map(store.equivocations) ?? []
    }
    return read { compare($0) }
  }

  /// Returns whether a device has the same additions in both states, if both
  /// contain the same saves of the device.
  func adds(sameAs other: FieldState, by device: DeviceID) -> Bool {
    func compare<Store: FieldStore>(_ store: Store) -> Bool {
      other.store(of: Store.self)
        .map { store.adds(sameAs: $0, by: device) } ?? true
    }
    return read { compare($0) }
  }
}

// References to other records.
extension FieldState {
  /// Whether the field may contain a reference.
  ///
  /// The answer for a set is always `true`, because its elements are not
  /// searched.
  var mayContainReferences: Bool { read { $0.mayContainReferences } }

  /// Calls `body` with every reference in the field.
  func forEachReference(_ body: (RecordID) -> Void) {
    read {
      $0.forEachValue { value in
        if case .reference(let id) = value { body(id) }
      }
    }
  }
}
