// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

// The edits of each kind that scripts and checks draw. The order of the draws
// must stay the same: recorded seeds and stored inputs depend on it.

/// A source of choices that are determined by bytes.
public protocol ChoiceSource {
  /// Returns a number from zero up to but not including `bound`.
  mutating func below(_ bound: Int) -> Int

  mutating func flag() -> Bool

  /// Returns one of `choices`.
  mutating func pick<Choice>(_ choices: [Choice]) -> Choice
}

// Edits with a predictable effect.
extension FieldKind {
  /// Returns an edit that adds a number to the content of a field, or writes it
  /// to a register.
  public func adding(_ number: Int64) -> FieldEdit {
    switch self {
    case .register: .write(.int(number))
    case .counter: .count(CounterEdit(by: number))
    case .set: .members(SetEdit(inserting: [.int(number)]))
    case .ledger: .append(.appending(number))
    case .existence: undeclared()
    }
  }

  /// The edit that cancels a counter or a ledger, or `nil` for another kind.
  var canceling: FieldEdit? {
    switch self {
    case .counter: .count(CounterEdit(by: 0, isReset: true))
    case .ledger: .append(.cancelling)
    case .register, .set, .existence: nil
    }
  }

  /// Returns an edit after which the field ``FieldReading/shows(_:in:)`` a
  /// number, regardless of its earlier content.
  public func showing(_ number: Int64) -> FieldEdit {
    switch self {
    case .register, .set: adding(number)
    case .counter: .count(CounterEdit(by: number, isReset: true))
    case .ledger: .append(.appending(number, isCancelled: true))
    case .existence: undeclared()
    }
  }
}

extension FieldReading {
  /// Changes the reading like ``FieldKind/adding(_:)`` changes the field.
  public mutating func add(_ number: Int64, in kind: FieldKind) {
    switch kind {
    case .register: value = .int(number)
    case .counter: count += number
    case .set: elements = Set(elements).union([.int(number)]).sorted()
    case .ledger: total += number
    case .existence: undeclared()
    }
  }

  /// Returns whether a set contains a number, or whether a field of another
  /// kind shows exactly the number.
  public func shows(_ number: Int64, in kind: FieldKind) -> Bool {
    switch kind {
    case .register: value == .int(number)
    case .counter: count == number
    case .set: elements.contains(.int(number))
    case .ledger: total == number
    case .existence: undeclared()
    }
  }
}

// The edits of random scripts.
extension FieldKind {
  func scriptEdit(_ random: inout SeededRandom) -> FieldEdit {
    switch self {
    case .register:
      return .write(random.chance(percent: 15) ? nil : random.registerValue())
    case .counter:
      return .count(
        CounterEdit(
          by: Int64(random.number(below: 9)) - 4,
          isReset: random.chance(percent: 20)))
    case .set:
      if random.chance(percent: 12) { return .members(.clearing) }
      return .members(
        random.chance(percent: 60)
          ? SetEdit(inserting: [random.element()])
          : SetEdit(inserting: [], removing: [random.element()]))
    case .ledger:
      let isCancelled = random.chance(percent: 10)
      return .append(
        .appending(Int64(random.number(below: 9)) - 4, isCancelled: isCancelled)
      )
    case .existence: undeclared()
    }
  }
}

extension SeededRandom {
  /// The targets of references in registers, including one that never exists.
  private static let referenced = [
    RecordID("Note", "a"), RecordID("Note", "b"), RecordID("Task", "a"),
    RecordID("Note", "missing"),
  ]

  fileprivate mutating func registerValue() -> Value {
    if chance(percent: 10) { return .null }
    let number = number(below: 50)
    let records = SeededRandom.referenced
    return number < records.count
      ? .reference(records[number]) : .int(Int64(number))
  }

  fileprivate mutating func element() -> Value {
    .string(pick(["x", "y", "z"]))
  }
}

// The edits of scripts from a choice source.
extension FieldKind {
  public func edit(choosing source: inout some ChoiceSource) -> FieldEdit {
    switch self {
    case .register:
      return .write(
        source.pick([
          nil, .null, .int(0), .int(1), .string("x"), .bool(true), .double(0),
        ]))
    case .counter:
      return .count(
        CounterEdit(by: source.amount(), isReset: source.flag()))
    case .set:
      let element: Value = source.pick([.int(0), .string("x"), .string("y")])
      return switch source.below(4) {
      case 0: .members(.clearing)
      case 1: .members(SetEdit(inserting: [], removing: [element]))
      default: .members(SetEdit(inserting: [element]))
      }
    case .ledger:
      let isCancelled = source.below(6) == 0
      return .append(
        .appending(source.amount(), isCancelled: isCancelled))
    case .existence: undeclared()
    }
  }
}

extension ChoiceSource {
  fileprivate mutating func amount() -> Int64 {
    pick([0, 1, -1, 2, -3, 1 << 40, -(1 << 40)])
  }
}

// The edits of stored records.
extension FieldKind {
  /// - Parameter i: The number of the edit in its save.
  func rowEdit(_ i: Int, _ random: inout SeededRandom) -> FieldEdit {
    let value = Value.string("\(random.number(below: 5))")
    switch self {
    case .register: return .write(value)
    case .counter: return .count(CounterEdit(by: Int64(i)))
    case .set:
      return random.number(below: 3) == 0
        ? .members(SetEdit(inserting: [], removing: [value]))
        : .members(SetEdit(inserting: [value]))
    case .ledger: return .append(.appending(Int64(i), memo: value))
    case .existence: undeclared()
    }
  }
}

// The edits of single fields.
extension FieldKind {
  public func stateEdit(_ random: inout SeededRandom) -> FieldEdit {
    let number = Int64(random.number(below: 9)) - 4
    switch self {
    case .register:
      return .write(number == 0 ? nil : .int(number))
    case .counter:
      return .count(
        CounterEdit(by: number, isReset: random.number(below: 5) == 0))
    case .set:
      if random.number(below: 6) == 0 { return .members(.clearing) }
      return .members(
        SetEdit(
          inserting: [.int(number), .int(1)],
          removing: random.number(below: 2) == 0 ? [.int(2)] : []))
    case .ledger:
      return .append(
        .appending(number, isCancelled: random.number(below: 6) == 0))
    case .existence: undeclared()
    }
  }
}

extension LedgerEdit {
  fileprivate static func appending(
    _ amount: Int64, memo: Value? = nil, isCancelled: Bool = false
  ) -> LedgerEdit {
    var edit: LedgerEdit = isCancelled ? .cancelling : LedgerEdit()
    edit.append(amount, memo: memo)
    return edit
  }
}

private func undeclared() -> Never {
  preconditionFailure("A schema has no such field.")
}
