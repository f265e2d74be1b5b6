//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

@testable import Rejoin

/// Everything that reading a field tells.
struct FieldReading: Hashable {
  var value: Value?
  var conflicts: [Value] = []
  var count: Int64 = 0
  var elements: [Value] = []
  var total: Int64 = 0
  var author: Provenance?
}

extension Record {
  func reading(of key: FieldKey) -> FieldReading {
    let (name, kind) = (key.name, key.kind)
    var reading = FieldReading()
    switch kind {
    case .register, .lww:
      reading.value = value(of: name, kind)
      reading.conflicts = kind == .register ? conflicts(of: name) : []
      reading.author = provenance(of: name, kind)
    case .counter: reading.count = count(of: name)
    case .set, .removeWinsSet: reading.elements = elements(of: name, kind)
    case .ledger: reading.total = total(of: name)
    }
    return reading
  }
}

extension OracleReplica {
  /// What must be read of a field, where just some records exist.
  func reading(
    of field: OracleField, where existing: Set<RecordID>
  ) -> FieldReading {
    func visible(_ value: Value) -> Value? {
      if case .reference(let id) = value, !existing.contains(id) { return nil }
      return value
    }
    var reading = FieldReading()
    switch field.kind {
    case .register, .lww:
      reading.value = field.write?.value.flatMap(visible)
      reading.conflicts = field.conflicts
      reading.author = field.write.map {
        Provenance(dot: $0.dot, time: $0.time)
      }
    case .counter: reading.count = field.count
    case .set, .removeWinsSet:
      reading.elements = field.elements.filter { visible($0) != nil }
    case .ledger: reading.total = field.total
    }
    return reading
  }
}
