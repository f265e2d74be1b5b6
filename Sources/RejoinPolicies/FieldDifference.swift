// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The three values of a field that a merge policy decides by: as fetched, as
/// edited, and as stored now.
///
/// `nil` stands for an unset field.
public struct FieldDifference: Hashable, Codable, Sendable {
  /// The name of the field.
  public let field: String
  /// The value when the context fetched the record.
  public let base: Value?
  /// The value in the context now.
  public let mine: Value?
  /// The value in the store now.
  public let store: Value?

  /// Whether the value in the store has changed since the context fetched it.
  ///
  /// If the record was deleted in the store, every field has changed.
  public let isChangedInStore: Bool

  /// Whether the store's write is later than a write that a save would make
  /// now, by timestamp and then by device.
  public let storeIsLater: Bool

  /// Creates the three values of a field.
  ///
  /// - Parameters:
  ///   - field: The name of the field.
  ///   - base: The value when the context fetched the record.
  ///   - mine: The value in the context now.
  ///   - store: The value in the store now.
  ///   - storeWasDeleted: Whether the record was deleted in the store since it
  ///     was fetched, so that every field counts as changed.
  ///   - storeIsLater: Whether the store's write is later than a write that a
  ///     save would make now.
  public init(
    field: String, base: Value?, mine: Value?, store: Value?,
    storeWasDeleted: Bool = false, storeIsLater: Bool = false
  ) {
    self.field = field
    self.base = base
    self.mine = mine
    self.store = store
    self.storeIsLater = storeIsLater
    isChangedInStore = storeWasDeleted || store != base
  }

  /// Whether the context has edited the field to another value.
  public var isChangedInContext: Bool { mine != base }
}
