// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// The results of all ways to read a field.
public struct FieldReading: Hashable, Sendable {
  /// The shown value of a register.
  public var value: Value?
  /// The values of concurrent writes that are not shown, sorted.
  ///
  /// A `nil` element is a write that unset the register.
  public var conflicts: [Value?] = []
  /// The value of a counter.
  public var count: Int64 = 0
  /// The elements of a set, sorted.
  public var elements: [Value] = []
  /// The total of a ledger.
  public var total: Int64 = 0
  /// The save that wrote the shown value.
  public var author: Dot?

  /// Creates the reading of an untouched field.
  public init() {}
}

extension Record {
  /// Returns the reading of a field.
  public func reading(of key: FieldKey) -> FieldReading {
    var reading = FieldReading()
    switch key.kind {
    case .register:
      reading.value = value(of: key)
      reading.conflicts = conflictingValues(of: key)
      reading.author = write(of: key)?.dot
    case .counter: reading.count = count(of: key)
    case .set: reading.elements = elements(of: key)
    case .ledger: reading.total = total(of: key)
    case .existence: break
    }
    return reading
  }
}

extension FieldState {
  /// The reading of the field, without the conflicts of a register.
  ///
  /// A reference has its value even if the record that it names does not exist.
  public var reading: FieldReading {
    var reading = FieldReading()
    // Properties of other kinds are empty.
    (reading.value, reading.author) = (value, write?.dot)
    reading.count = count
    reading.elements = elements
    reading.total = total
    return reading
  }
}

extension FieldReading {
  /// Returns the reading without references to records that do not exist.
  public func hidingReferences(
    unless exists: (RecordID) -> Bool
  ) -> FieldReading {
    var reading = self
    if !isShown(reading.value, exists) { reading.value = nil }
    let isUnset = reading.value == nil
    reading.conflicts.removeAll {
      $0 == nil ? isUnset : !isShown($0, exists)
    }
    reading.elements.removeAll { !isShown($0, exists) }
    return reading
  }
}

private func isShown(_ value: Value?, _ exists: (RecordID) -> Bool) -> Bool {
  if case .reference(let id)? = value { exists(id) } else { true }
}

extension OracleReplica {
  /// Returns the expected reading of a field.
  func reading(of location: FieldLocation) -> FieldReading {
    field(location).reading.hidingReferences(unless: exists)
  }

  /// Returns the expected reading of a field by a later version of the app.
  func laterReading(of location: FieldLocation) -> LaterReading? {
    if !exists(location.record) { return LaterReading() }
    var reading = field(location).laterReading
    reading?.shown.removeAll { !isShown($0, exists) }
    reading?.older.removeAll { !isShown($0.value, exists) }
    return reading
  }
}

extension OracleField {
  /// Returns whether a value of the field refers to one of some records.
  func refers(to records: Set<RecordID>) -> Bool {
    if records.isEmpty || ![.register, .set].contains(kind) { return false }
    let values = kind == .set ? elements : siblings.compactMap(\.value)
    return values.contains { value in
      if case .reference(let id) = value { records.contains(id) } else { false }
    }
  }

  /// The expected reading of the field, with all references.
  var reading: FieldReading {
    var reading = FieldReading()
    switch kind {
    case .register:
      let write = write
      reading.value = write?.value
      reading.conflicts = conflicts
      reading.author = write?.dot
    case .counter: reading.count = count
    case .set: reading.elements = elements
    case .ledger: reading.total = total
    case .existence: break
    }
    return reading
  }
}

extension World {
  /// Adds a reading to the digest of the run.
  mutating func observe(_ reading: FieldReading) {
    trace.add(reading.value)
    for value in reading.conflicts {
      trace.add(value == nil ? 1 : 2)
      trace.add(value)
    }
    trace.add(UInt64(bitPattern: reading.count))
    for element in reading.elements { trace.add(element) }
    trace.add(UInt64(bitPattern: reading.total))
    if let author = reading.author { observe(author) }
  }
}
