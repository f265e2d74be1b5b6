// SPDX-License-Identifier: Apache-2.0

// Each property reads one kind of field. A state of another kind shows nothing.
extension FieldState {
  /// The visible value of a register.
  public var value: Value? {
    store(of: Siblings<Stamped>.self)?.winner?.payload.value
  }

  /// The visible value of a register or a counter: nothing if it has not been
  /// written, and `nil` if a write has unset it.
  package var shown: Value?? {
    if let counter = store(of: PNCounter.self) {
      return counter.hasContent ? .some(.int(counter.value)) : nil
    }
    return write.map(\.value)
  }

  /// The visible write of a register.
  public var write: RegisterWrite? {
    store(of: Siblings<Stamped>.self)?.winner.map { RegisterWrite($0) }
  }

  /// The writes that a register holds, sorted by dot.
  public var writes: [RegisterWrite] {
    (store(of: Siblings<Stamped>.self) ?? Siblings()).map { RegisterWrite($0) }
  }

  /// The marks of a record's existence, sorted by dot, or none for another kind.
  public var marks: [RecordMark] {
    (store(of: ExistenceMarks.self)?.siblings ?? Siblings())
      .map { RecordMark($0) }
  }

  /// The values of a register's other writes that differ from the visible one,
  /// each once, sorted.
  ///
  /// The first is `nil` if a write unset the register.
  var conflicts: [Value?] { store(of: Siblings<Stamped>.self)?.conflicts ?? [] }

  /// The value of a counter, zero for another kind.
  public var count: Int64 { store(of: PNCounter.self)?.value ?? 0 }

  /// The elements of a set, sorted, or an empty array for another kind.
  public var elements: [Value] { store(of: DotMap.self)?.elements ?? [] }

  /// The total of a ledger, zero for another kind.
  public var total: Int64 { store(of: Ledger.self)?.total ?? 0 }

  /// Whether the field has content that a re-creation of the record drops.
  package var hasContent: Bool { read { $0.hasContent } }

  /// Returns whether both states show the same.
  public func shows(sameAs other: FieldState) -> Bool {
    func compare<Store: FieldStore>(_ store: Store) -> Bool {
      other.store(of: Store.self).map(store.shows) ?? false
    }
    return read { compare($0) }
  }

  /// Returns what the field shows where a part of another one may change it.
  func shown(in part: FieldState) -> [UInt64] {
    func shown<Store: FieldStore>(_ store: Store) -> [UInt64] {
      part.store(of: Store.self).map(store.shown) ?? []
    }
    return read { shown($0) }
  }

  /// Returns the dots whose content differs between the two states.
  func equivocations(with other: FieldState) -> [Dot] {
    func compare<Store: FieldStore>(_ store: Store) -> [Dot] {
      other.store(of: Store.self).map(store.equivocations) ?? []
    }
    return read { compare($0) }
  }

  /// Returns whether a device has the same additions in another state, if both
  /// have the same saves of the device.
  func adds(sameAs other: FieldState, by device: DeviceID) -> Bool {
    func compare<Store: FieldStore>(_ store: Store) -> Bool {
      other.store(of: Store.self)
        .map { store.adds(sameAs: $0, by: device) } ?? true
    }
    return read { compare($0) }
  }
}

// References to records.
extension FieldState {
  /// Whether the field may contain a reference.
  ///
  /// A set is not searched for one.
  var mayRefer: Bool { read { $0.mayRefer } }

  /// Calls `body` with every reference in the field.
  func forEachReference(_ body: (RecordID) -> Void) {
    read {
      $0.forEachValue { value in
        if case .reference(let id) = value { body(id) }
      }
    }
  }
}
