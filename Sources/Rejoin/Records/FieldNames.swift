// SPDX-License-Identifier: Apache-2.0

/// The keys of all fields of a replica, each with a number.
///
/// Records refer to fields by number, which keeps a field small.
struct FieldNames: Sendable {
  /// The keys by number.
  ///
  /// The first is existence.
  private var keys = RunMap<FieldKey, Void>()

  init() { keys.set(.existence, to: ()) }

  var count: Int { keys.entries.count }

  /// The key of a number.
  subscript(number: UInt32) -> FieldKey { keys.entries[Int(number)].key }

  /// The kind of a field.
  func kind(of number: UInt32) -> FieldKind {
    keys.entries[Int(number)].key.kind
  }

  /// The number of a key, if it has one.
  func number(of key: FieldKey) -> UInt32? {
    keys.place(of: key).map { UInt32($0) }
  }

  /// The number of a key, which is added if it is new.
  mutating func intern(_ key: FieldKey) -> UInt32 {
    UInt32(keys.intern(key, default: ()))
  }

  /// Whether there is a field of a kind.
  func contains(_ kind: FieldKind) -> Bool {
    keys.entries.contains { $0.key.kind == kind }
  }
}
