// SPDX-License-Identifier: Apache-2.0

/// The position of a field in a replica: the position of its record and the
/// number of its name.
struct FieldPosition: Hashable, Sendable {
  let record: UInt32
  let name: UInt32

  /// Orders positions by record and then by name.
  var rank: UInt64 { UInt64(record) << 32 | UInt64(name) }
}

/// A record as a replica stores it: a map from fields to their states, with its
/// existence as one of them.
struct RecordState: Sendable {
  let id: RecordID
  /// Sorted by the number of the field; never two of one field.
  ///
  /// The existence has number zero. A record without marks lacks it.
  private(set) var slots: [FieldSlot] = []

  /// Whether the record exists, by the marks and the clocks in its slots.
  private(set) var existence = Existence()
  /// The saves that any deletion covers, or `nil` without a deletion.
  private(set) var covered: VectorClock?
  /// Whether any field may hold a reference; never set back.
  private(set) var mayContainReferences = false

  init(_ id: RecordID) { self.id = id }

  /// The index of a field among the slots, if any save has touched it.
  func position(of name: UInt32) -> Int? {
    // Records often have all fields of their entity, numbered in a row.
    let guess = Int(name) - 1
    if slots.indices.contains(guess), slots[guess].name == name { return guess }
    let i = place(of: name)
    return i < slots.count && slots[i].name == name ? i : nil
  }

  /// The index of a field, or where it would be inserted.
  private func place(of name: UInt32) -> Int {
    slots.partitioningIndex { $0.name >= name }
  }

  /// The state of a field, if any save has touched it.
  subscript(name: UInt32) -> FieldState? {
    position(of: name).map { slots[$0].state }
  }

  /// A field as it is stored, if any save has touched it.
  func slot(_ name: UInt32) -> FieldSlot? {
    position(of: name).map { slots[$0] }
  }

  /// The visible write of a register.
  func write(of name: UInt32) -> Siblings<Stamped>.Element? {
    position(of: name).flatMap { slots[$0].write }
  }

  /// The number of a device's last save that a field has seen; zero if there is
  /// none.
  func lastSave(of device: DeviceID, in name: UInt32) -> UInt64 {
    position(of: name).map { slots[$0].lastSave(of: device) } ?? 0
  }

  /// Makes room for some fields of a record that has none.
  mutating func reserve(_ count: Int) {
    if slots.isEmpty { slots.reserveCapacity(count) }
  }

  /// Changes a field in place; one that is missing begins empty.
  ///
  /// - Parameter refers: Whether the change may add a reference.
  mutating func update<Result>(
    _ name: UInt32, kind: FieldKind, refers: Bool,
    _ change: (inout FieldSlot) -> Result
  ) -> Result {
    defer { _checkInvariants() }
    let i = position(of: name) ?? insert(FieldSlot(name, kind))
    let result = change(&slots[i])
    note(at: i, refers: refers)
    return result
  }

  /// Whether any save has touched a field.
  func has(_ name: UInt32) -> Bool { position(of: name) != nil }

  /// Adds a field that is missing.
  mutating func add(_ slot: FieldSlot) {
    note(at: insert(slot), refers: slot.mayContainReferences)
    _checkInvariants()
  }

  /// Inserts a field that is missing, and returns its index.
  private mutating func insert(_ slot: FieldSlot) -> Int {
    guard let last = slots.last, slot.name < last.name else {
      slots.append(slot)
      return slots.count - 1
    }
    let i = place(of: slot.name)
    slots.insert(slot, at: i)
    return i
  }

  private mutating func note(at i: Int, refers: Bool) {
    if slots[i].name == 0 { covered = marks.covered }
    // Most records are known to exist.
    if slots[i].name == 0 || !existence.updateWins {
      existence = existence(afterChangeAt: i)
    }
    if refers { mayContainReferences = true }
  }

  /// The marks of the record's existence.
  var marks: Siblings<ExistenceMark> { slots.first?.marks ?? Siblings() }

  /// Whether the record exists, under a rule.
  func exists(_ rule: DeletionRule) -> Bool { existence.holds(rule) }

  /// Whether the record has been deleted or purged, under a rule.
  func isDead(_ rule: DeletionRule) -> Bool { existence.isDenied(rule) }

  /// Whether the contents of the record were purged.
  var isPurged: Bool { marks.contains(where: \.payload.isPurge) }
}

extension RecordState {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(
        zip(slots, slots.dropFirst()).allSatisfy { $0.name < $1.name },
        "the fields of \(id) are not sorted: \(slots.map(\.name))")
      precondition(
        covered == marks.covered && existence == derivedExistence,
        "the marks and the fields of \(id) say otherwise")
      precondition(
        mayContainReferences || !slots.contains(where: \.mayContainReferences),
        "\(id) has references, and is said to have none")
    #endif
  }
}
