// SPDX-License-Identifier: Apache-2.0

/// The position of a field in a replica: the position of its record and the
/// number of its name.
struct FieldPosition: Hashable, Sendable {
  let record: UInt32
  let name: UInt32

  /// A number that orders positions by record and then by name.
  var rank: UInt64 { UInt64(record) << 32 | UInt64(name) }
}

/// A stored record: a map from fields to their states, including its existence.
struct RecordState: Sendable {
  let id: RecordID
  /// The fields, sorted by number, each at most once.
  ///
  /// The existence has number zero. A record without marks lacks it.
  private(set) var slots: [FieldSlot] = []

  /// Whether the record exists, according to the marks and clocks in its slots.
  private(set) var existence = Existence()
  /// The saves that deletions and purges cover, or `nil` without any.
  private(set) var covered: VectorClock?
  /// Whether any field may contain a reference.
  ///
  /// It is never set back to `false`.
  private(set) var mayContainReferences = false
  /// An upper bound of the number of bytes in the encoded record, or zero if it
  /// is unknown.
  ///
  /// Each save adds to it. A join resets it to zero.
  var byteBound: UInt32 = 0

  init(_ id: RecordID) { self.id = id }

  /// Returns the index of a field's slot, or `nil` if no save touched the
  /// field.
  func position(of name: UInt32) -> Int? {
    // Records often have all fields of their entity, with successive numbers.
    let guess = Int(name) - 1
    if slots.indices.contains(guess), slots[guess].name == name { return guess }
    let i = index(of: name)
    return i < slots.count && slots[i].name == name ? i : nil
  }

  /// Returns the index of a field's slot, or its index after insertion.
  private func index(of name: UInt32) -> Int {
    slots.partitioningIndex { $0.name >= name }
  }

  /// The state of a field, or `nil` if no save touched it.
  subscript(name: UInt32) -> FieldState? {
    position(of: name).map { slots[$0].state }
  }

  /// Returns the slot of a field, or `nil` if no save touched it.
  func slot(_ name: UInt32) -> FieldSlot? {
    position(of: name).map { slots[$0] }
  }

  /// Returns the visible write of a register.
  func write(of name: UInt32) -> Siblings<Stamped>.Element? {
    position(of: name).flatMap { slots[$0].write }
  }

  /// Returns the number of a device's last save that a field has seen, or zero.
  func lastSave(of device: DeviceID, in name: UInt32) -> UInt64 {
    position(of: name).map { slots[$0].lastSave(of: device) } ?? 0
  }

  /// Reserves capacity for the fields of an empty record.
  mutating func reserve(_ count: Int) {
    if slots.isEmpty { slots.reserveCapacity(count) }
  }

  /// Changes a field in place, or an empty field if it is missing.
  ///
  /// - Parameter refers: Whether the change may add a reference.
  mutating func update<Result>(
    _ name: UInt32, kind: FieldKind, refers: Bool,
    _ change: (inout FieldSlot) -> Result
  ) -> Result {
    defer { _checkInvariants() }
    let i = position(of: name) ?? insert(FieldSlot(name, kind))
    let marks = name == 0 ? marks : Siblings()
    let result = change(&slots[i])
    note(at: i, refers: refers, since: marks)
    return result
  }

  /// Returns whether any save touched a field.
  func has(_ name: UInt32) -> Bool { position(of: name) != nil }

  /// Adds a missing field.
  mutating func add(_ slot: FieldSlot) {
    note(
      at: insert(slot), refers: slot.mayContainReferences, since: Siblings())
    _checkInvariants()
  }

  /// Inserts a missing field and returns its index.
  private mutating func insert(_ slot: FieldSlot) -> Int {
    guard let last = slots.last, slot.name < last.name else {
      slots.append(slot)
      return slots.count - 1
    }
    let i = index(of: slot.name)
    slots.insert(slot, at: i)
    return i
  }

  /// - Parameter before: The marks before the change of the existence.
  private mutating func note(
    at i: Int, refers: Bool, since before: Siblings<ExistenceMark>
  ) {
    if slots[i].name == 0 { updateCovered(since: before) }
    // Skip the computation for most records, which are known to exist.
    if slots[i].name == 0 || !existence.isUncovered {
      existence = existence(afterChangeAt: i)
    }
    if refers { mayContainReferences = true }
  }

  /// Joins only what new marks cover: a record can have a mark of each device,
  /// and each mark covers a save of each device.
  private mutating func updateCovered(since before: Siblings<ExistenceMark>) {
    let marks = marks
    // A few marks are joined faster than compared.
    if marks.count < 8 { return covered = marks.covered }
    let new = Siblings(sorted: marks.filter { before[$0.dot] != $0 })
    let added = new.covered
    // A device's later deletion covers what its earlier one did.
    let isGrowing = before.allSatisfy { mark in
      guard let old = mark.payload.covered, marks[mark.dot] != mark else {
        return true
      }
      return added.map(old.isContained) ?? false
    }
    if !isGrowing {
      covered = marks.covered
    } else if let added {
      covered = covered?.merging(added) ?? added
    }
  }

  /// The marks of the record's existence.
  var marks: Siblings<ExistenceMark> { slots.first?.marks ?? Siblings() }

  /// Returns whether the record exists under a rule.
  func exists(_ rule: DeletionRule) -> Bool { existence.holds(rule) }

  /// Returns whether the record is deleted or purged under a rule.
  func isDead(_ rule: DeletionRule) -> Bool {
    covered != nil && !existence.holds(rule)
  }

  /// Whether purges or their announcements name the deletions of the record.
  var hasFinalDeletions: Bool {
    existence.hasDeletion && marks.nameEveryDeletion()
  }

  /// Returns whether the record is deleted, and the deletion cannot be undone.
  func isPurged(_ rule: DeletionRule) -> Bool {
    isDead(rule) && marks.nameEveryDeletion()
  }
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

/// The keys of all fields of a replica, each with a number.
///
/// Records refer to fields by number to save memory.
struct FieldNames: Sendable {
  /// The keys by number, starting with the existence.
  private var keys = RunMap<FieldKey, Void>()

  init() { keys.set(.existence, to: ()) }

  var count: Int { keys.entries.count }

  /// The key with a number.
  subscript(number: UInt32) -> FieldKey { keys.entries[Int(number)].key }

  /// Returns the kind of a field.
  func kind(of number: UInt32) -> FieldKind {
    keys.entries[Int(number)].key.kind
  }

  /// Returns the number of a key, or `nil` if the key is unknown.
  func number(of key: FieldKey) -> UInt32? {
    keys.index(of: key).map { UInt32($0) }
  }

  /// Returns the number of a key, adding the key if it is unknown.
  mutating func intern(_ key: FieldKey) -> UInt32 {
    UInt32(keys.intern(key, default: ()))
  }
}
