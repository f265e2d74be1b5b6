// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension Episode {
  /// The changes that one device made in one save.
  public struct Edit: Hashable, Sendable {
    /// The device that made the edit.
    public var device: String
    /// The time on that device's clock, in milliseconds.
    public var at: Int64
    /// The new values of registers and counters, by field.
    public var set: [String: Value] = [:]
    /// The fields to clear, which unsets registers, empties sets and resets
    /// counters.
    public var clear: [String] = []
    /// The elements inserted into sets, by field.
    public var insert: [String: [Value]] = [:]
    /// The elements removed from sets, by field.
    public var remove: [String: [Value]] = [:]
    /// The amounts added to counters, by field.
    public var increment: [String: Int64] = [:]
    /// Whether the edit deletes the record.
    public var isDeletion = false

    /// Creates an edit without changes.
    public init(_ device: String, at: Int64) {
      self.device = device
      self.at = at
    }
  }
}

extension Episode.Edit {
  /// The fields that the edit changes.
  public var fields: Set<String> {
    Set(clear).union(set.keys).union(insert.keys).union(remove.keys)
      .union(increment.keys)
  }

  /// Whether the edit changes no field and does not delete the record.
  var isEmpty: Bool {
    !isDeletion && set.isEmpty && clear.isEmpty && insert.isEmpty
      && remove.isEmpty && increment.isEmpty
  }

  /// Returns the record after this edit, as a client without CRDTs computes it.
  ///
  /// Such a client reads the old content and writes the new content.
  func applied(to record: PlainRecord?, of kinds: [String: FieldKind])
    -> PlainRecord?
  {
    if isDeletion { return nil }
    if isEmpty { return record }
    var record = record ?? [:]
    for field in clear { record[field] = nil }
    for (field, value) in set {
      record[field] = kinds[field] == .counter ? value.count : .value(value)
    }
    for (field, elements) in remove {
      record[field] = .elements(record.elements(field).subtracting(elements))
    }
    for (field, elements) in insert {
      record[field] = .elements(record.elements(field).union(elements))
    }
    for (field, amount) in increment {
      record[field] = .count(record.count(field).addingClamped(amount))
    }
    return record
  }
}

extension Value {
  fileprivate var count: Content {
    if case .int(let number) = self { return .count(number) }
    return .value(self)
  }
}

extension Dictionary where Key == String, Value == Content {
  /// Returns the number of a counter, or zero if the record has no such
  /// counter.
  func count(_ field: String) -> Int64 {
    if case .count(let number) = self[field] { return number }
    return 0
  }

  /// Returns the elements of a set, which is empty if the field is unset.
  func elements(_ field: String) -> Set<Rejoin.Value> {
    if case .elements(let elements) = self[field] { return elements }
    return []
  }

  /// Returns the value of a register, or `nil` if it is unset.
  func value(_ field: String) -> Rejoin.Value? {
    if case .value(let value) = self[field] { return value }
    return nil
  }
}

extension Int64 {
  /// Returns the sum, clamped to the range of the type.
  func addingClamped(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }
}
