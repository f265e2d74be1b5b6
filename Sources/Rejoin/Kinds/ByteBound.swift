// SPDX-License-Identifier: Apache-2.0

/// Upper bounds of the numbers of bytes that parts of a field take in a message.
///
/// A record is encoded to find its exact size only if the sum of the bounds
/// exceeds the limit. The bounds can therefore be generous.
enum ByteBound {
  /// The head of a message, a key and the name of an entity.
  static let record = Limits.keyBytes + Limits.nameBytes + save

  /// A reference to a save, the save and its device.
  ///
  /// Each reference counts as if no other field referred to the save.
  static let save = 64

  /// The sums of a device in a counter or a ledger.
  static let sums = 128

  /// The name, the kind, the variant and the index of a field.
  static let field = 640

  /// An entry of a ledger.
  static func entry(memo: Value?) -> Int { 2 * save + memo.byteBound }
}

extension Value {
  /// An upper bound of the number of bytes that the value takes in a message.
  ///
  /// - Complexity: O(1).
  var byteBound: Int {
    switch self {
    case .string(let text): text.utf8.count + 10
    case .bytes(let content): content.count + 10
    case .reference(let id): id.entity.utf8.count + id.key.utf8.count + 20
    case .null, .bool, .int, .double, .date: 10
    }
  }
}

extension Value? {
  /// An upper bound of the number of bytes that the value takes in a message.
  var byteBound: Int { self?.byteBound ?? 1 }
}
