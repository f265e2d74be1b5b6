// SPDX-License-Identifier: Apache-2.0

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
    keys.place(of: key).map { UInt32($0) }
  }

  /// Returns the number of a key, adding the key if it is unknown.
  mutating func intern(_ key: FieldKey) -> UInt32 {
    UInt32(keys.intern(key, default: ()))
  }

  /// Returns whether any field has a given kind.
  func contains(_ kind: FieldKind) -> Bool {
    keys.entries.contains { $0.key.kind == kind }
  }
}
