// SPDX-License-Identifier: Apache-2.0

extension FieldState {
  /// Whether the field may hold a reference; a set is not searched for one.
  var mayRefer: Bool {
    switch self {
    case .register(let field):
      field.store.contains { $0.payload.value?.isReference == true }
    case .set: true
    case .counter, .ledger, .existence: false
    }
  }

  /// Calls `body` with every reference that the field holds.
  func forEachReference(_ body: (RecordID) -> Void) {
    func visit(_ value: Value?) {
      if case .reference(let id) = value { body(id) }
    }
    switch self {
    case .register(let field):
      for sibling in field.store { visit(sibling.payload.value) }
    case .set(let field): for entry in field.store.entries { visit(entry.key) }
    case .counter, .ledger, .existence: break
    }
  }
}

extension FieldEdit {
  /// Whether the edit may add a reference.
  var mayRefer: Bool {
    switch self {
    case .write(let value): value?.isReference == true
    case .members: true
    case .count, .append: false
    }
  }
}
