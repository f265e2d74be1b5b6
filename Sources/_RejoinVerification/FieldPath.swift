// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// A field of a record.
public struct FieldPath: Hashable, Sendable {
  /// The record.
  public let id: RecordID
  /// The field.
  public let key: FieldKey

  /// Creates the path of a field.
  public init(_ id: RecordID, _ key: FieldKey) {
    (self.id, self.key) = (id, key)
  }
}

extension FieldPath: Comparable {
  public static func < (a: FieldPath, b: FieldPath) -> Bool {
    a.id == b.id ? a.key < b.key : a.id < b.id
  }
}

extension FieldPath: CustomStringConvertible {
  /// The entity, the record and the name of the field.
  public var description: String { "\(id).\(key.name)" }
}
