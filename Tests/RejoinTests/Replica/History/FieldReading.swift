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

extension Replica {
  func reading(of path: FieldPath) -> FieldReading {
    guard let record = record(path.id) else { return FieldReading() }
    let (name, kind) = (path.key.name, path.key.kind)
    return FieldReading(
      value: record.value(of: name, kind),
      conflicts: kind == .register ? record.conflicts(of: name) : [],
      count: record.count(of: name),
      elements: record.elements(of: name, kind),
      total: record.total(of: name),
      author: record.provenance(of: name, kind))
  }
}

extension OracleReplica {
  func reading(of path: FieldPath) -> FieldReading {
    let field = field(path)
    var reading = FieldReading()
    switch path.key.kind {
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

  /// A reference to a record that does not exist is not shown.
  private func visible(_ value: Value) -> Value? {
    if case .reference(let id) = value, !exists(id) { return nil }
    return value
  }
}
