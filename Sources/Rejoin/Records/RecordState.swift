// SPDX-License-Identifier: Apache-2.0

/// The names of the fields that a replica has met.
///
/// A record refers to them by number, which keeps a field small.
struct FieldNames {
  private(set) var keys: [FieldKey] = [.existence]
  private var numbers: [FieldKey: UInt32] = [.existence: 0]

  /// The number of a name, if it has been met.
  func number(of key: FieldKey) -> UInt32? { numbers[key] }

  /// The number of a name, which is added if it is new.
  mutating func intern(_ key: FieldKey) -> UInt32 {
    if let number = numbers[key] { return number }
    let number = UInt32(keys.count)
    keys.append(key)
    numbers[key] = number
    return number
  }
}

/// A record as a replica stores it: a map from fields to their states, its
/// existence being one of them.
struct RecordState {
  struct Slot {
    let name: UInt32
    var state: FieldState
  }

  let id: RecordID
  /// Sorted by the number of the name; existence has number zero.
  private(set) var slots: [Slot] = []

  init(_ id: RecordID) { self.id = id }

  func position(of name: UInt32) -> Int? {
    let i = place(of: name)
    return i < slots.count && slots[i].name == name ? i : nil
  }

  /// The position of a field, or where it would stand.
  private func place(of name: UInt32) -> Int {
    var (low, high) = (0, slots.count)
    while low < high {
      let middle = (low + high) / 2
      if slots[middle].name < name { low = middle + 1 } else { high = middle }
    }
    return low
  }

  subscript(name: UInt32) -> FieldState? {
    position(of: name).map { slots[$0].state }
  }

  /// Changes a field in place; one that is missing begins untouched.
  mutating func update<Result>(
    _ name: UInt32, kind: FieldKind, _ change: (inout FieldState) -> Result
  ) -> Result {
    let i = place(of: name)
    if i == slots.count || slots[i].name != name {
      slots.insert(Slot(name: name, state: FieldState(kind)), at: i)
    }
    return change(&slots[i].state)
  }

  /// The marks that say whether the record exists.
  var marks: Siblings<Stamped> {
    guard let first = slots.first, first.name == 0,
      case .register(let field) = first.state
    else { return Siblings() }
    return field.store
  }

  /// Whether the record exists, under a rule.
  func exists(_ rule: DeletionRule) -> Bool { marks.exists(rule) }

  /// Whether the record has been deleted or purged, under a rule.
  func isDead(_ rule: DeletionRule) -> Bool { !marks.isEmpty && !exists(rule) }

  /// Whether what the record held when it was deleted has been dropped.
  ///
  /// A purge writes `dead` and, in the same save, leaves nothing in the fields.
  /// What is there nevertheless is of an edit that the purge had not seen, whose
  /// mark is beside; otherwise the save only deleted, after it had removed
  /// something.
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
