// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A field of a record as three parties see it.
///
/// `nil` is an unset field.
public struct FieldDifference: Hashable, Codable, Sendable {
  /// The name of the field.
  public let field: String
  /// The value when the context fetched it.
  public let base: Value?
  /// The value that the context holds now.
  public let mine: Value?
  /// The value that the store holds now.
  public let store: Value?

  /// Whether the store changed since the context fetched.
  ///
  /// A record that was deleted since counts as changed in every field.
  public let isChanged: Bool

  /// Whether the store's write is later than the one that a save would make now,
  /// by timestamp and then by device.
  public let storeIsLater: Bool

  /// Creates the three values of a field.
  public init(
    field: String, base: Value?, mine: Value?, store: Value?,
    storeWasDeleted: Bool = false, storeIsLater: Bool = false
  ) {
    self.field = field
    self.base = base
    self.mine = mine
    self.store = store
    self.storeIsLater = storeIsLater
    isChanged = storeWasDeleted || store != base
  }

  /// Whether the context changed the field.
  public var isDirty: Bool { mine != base }
}
