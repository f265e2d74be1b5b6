// SPDX-License-Identifier: Apache-2.0

/// The keys of all fields of a replica, each with a number.
///
/// Records refer to fields by number, which keeps a field small.
struct FieldNames {
  /// The keys by number.
  ///
  /// Each key once; the first is existence.
  private(set) var keys: [FieldKey] = [.existence]
  /// The index of each key in `keys`.
  private var numbers: [FieldKey: UInt32] = [.existence: 0]

  /// The number of a key, if it has one.
  func number(of key: FieldKey) -> UInt32? { numbers[key] }

  /// The number of a key, which is added if it is new.
  mutating func intern(_ key: FieldKey) -> UInt32 {
    if let number = numbers[key] { return number }
    let number = UInt32(keys.count)
    keys.append(key)
    numbers[key] = number
    _checkInvariants()
    return number
  }

  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(keys.first == .existence, "existence is not the first field")
      precondition(
        numbers.count == keys.count
          && keys.enumerated().allSatisfy { numbers[$1] == UInt32($0) },
        "the numbers of the fields differ from their places: \(keys)")
    #endif
  }
}

/// The location of a field in a replica: the position of its record and the
/// number of its name.
struct FieldLocation: Hashable {
  let record: UInt32
  let name: UInt32

  /// Orders locations by record and then by name.
  var rank: UInt64 { UInt64(record) << 32 | UInt64(name) }
}

/// Whether a record exists under each rule for deletions.
struct Existence: Equatable {
  private(set) var updateWins = false
  private(set) var deleteWins = false

  /// A record without marks does not exist.
  init() {}

  init(_ marks: Siblings<Stamped>) {
    updateWins = marks.exists(.updateWins)
    deleteWins = marks.exists(.deleteWins)
  }

  func holds(_ rule: DeletionRule) -> Bool {
    switch rule {
    case .updateWins: updateWins
    case .deleteWins: deleteWins
    }
  }
}

/// A record as a replica stores it: a map from fields to their states, with its
/// existence as one of them.
struct RecordState {
  struct Slot {
    let name: UInt32
    var state: FieldState
  }

  let id: RecordID
  /// Sorted by the number of the field; never two of one field.
  ///
  /// The existence has number zero and is a register.
  private(set) var slots: [Slot] = []

  /// Whether the record exists, by the marks in its slots.
  private(set) var existence = Existence()
  /// Whether any field may hold a reference; never set back.
  private(set) var mayRefer = false

  init(_ id: RecordID) { self.id = id }

  func position(of name: UInt32) -> Int? {
    let i = place(of: name)
    return i < slots.count && slots[i].name == name ? i : nil
  }

  /// The index of a field, or where it would be inserted.
  private func place(of name: UInt32) -> Int {
    slots.partitioningIndex { $0.name >= name }
  }

  subscript(name: UInt32) -> FieldState? {
    position(of: name).map { slots[$0].state }
  }

  /// The number of a device's last save that a field has seen; zero if there is
  /// none.
  func lastSave(of device: DeviceID, in name: UInt32) -> UInt64 {
    position(of: name).map { slots[$0].state.lastSave(of: device) } ?? 0
  }

  /// Makes room for some fields of a record that has none.
  mutating func reserve(_ count: Int) {
    if slots.isEmpty { slots.reserveCapacity(count) }
  }

  /// Changes a field in place; one that is missing begins empty.
  mutating func update<Result>(
    _ name: UInt32, kind: FieldKind, _ change: (inout FieldState) -> Result
  ) -> Result {
    defer { _checkInvariants() }
    let i = place(of: name)
    if i == slots.count || slots[i].name != name {
      slots.insert(Slot(name: name, state: FieldState(kind)), at: i)
    }
    let result = change(&slots[i].state)
    note(slots[i])
    return result
  }

  /// Whether any save has touched a field.
  func has(_ name: UInt32) -> Bool { position(of: name) != nil }

  /// Adds a field that is missing.
  mutating func add(_ name: UInt32, _ state: FieldState) {
    let slot = Slot(name: name, state: state)
    if slots.last.map({ $0.name < name }) ?? true {
      slots.append(slot)
    } else {
      slots.insert(slot, at: place(of: name))
    }
    note(slot)
    _checkInvariants()
  }

  private mutating func note(_ slot: Slot) {
    if slot.name == 0 { existence = Existence(marks) }
    if !mayRefer { mayRefer = slot.state.mayRefer }
  }

  /// The marks that say whether the record exists.
  var marks: Siblings<Stamped> {
    guard let first = slots.first, first.name == 0,
      case .register(let field) = first.state
    else { return Siblings() }
    return field.store
  }

  /// Whether the record exists, under a rule.
  func exists(_ rule: DeletionRule) -> Bool { existence.holds(rule) }

  /// Whether the record has been deleted or purged, under a rule.
  func isDead(_ rule: DeletionRule) -> Bool { !marks.isEmpty && !exists(rule) }

  /// Whether the record has been purged: deleted, and its content dropped.
  ///
  /// A purge marks the record dead and, in the same save, drops the content of
  /// the fields. Content that is present all the same is of an edit concurrent
  /// with the purge, and then the mark of that edit is a sibling. Without such
  /// a sibling, the save only removed something and then deleted the record.
  var isPurged: Bool {
    let fields = slots.lazy.filter { $0.name != 0 }.map(\.state)
    let isEmptied = marks.contains { mark in
      mark.payload.value != .bool(true)
        && fields.contains { $0.wasEmptied(by: mark.dot) }
    }
    return isEmptied
      && (!fields.contains(where: \.hasContent) || marks.exists(.updateWins))
  }
}

extension Siblings<Stamped> {
  /// Whether a record with these marks exists, under a rule.
  func exists(_ rule: DeletionRule) -> Bool {
    switch rule {
    case .updateWins: contains { $0.payload.value == .bool(true) }
    case .deleteWins:
      !isEmpty && allSatisfy { $0.payload.value == .bool(true) }
    }
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
        existence == Existence(marks), "the marks of \(id) say otherwise")
      precondition(
        mayRefer || !slots.contains { $0.state.mayRefer },
        "\(id) has references, and is said to have none")
      guard let first = slots.first, first.name == 0 else { return }
      guard case .register = first.state else {
        preconditionFailure("the existence of \(id) is no register")
      }
    #endif
  }
}
