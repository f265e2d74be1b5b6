// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The three values of a field that a merge policy compares.
///
/// They are the value that the context fetched, the edited value and the
/// store's current value. `nil` stands for an unset field.
public struct FieldDifference: Hashable, Codable, Sendable {
  /// The name of the field.
  public let field: String
  /// The value when the context fetched the record.
  public let base: Value?
  /// The current value in the context.
  public let mine: Value?
  /// The current value in the store.
  public let store: Value?

  /// Whether the value in the store changed after the context fetched it.
  ///
  /// If the record was deleted in the store, every field counts as changed.
  public let isChangedInStore: Bool

  /// Whether the store's write is later than a write that a save would make
  /// now.
  ///
  /// The timestamp decides, then the device.
  public let storeIsLater: Bool

  /// Creates the three values of a field.
  ///
  /// - Parameters:
  ///   - field: The name of the field.
  ///   - base: The value when the context fetched the record.
  ///   - mine: The current value in the context.
  ///   - store: The current value in the store.
  ///   - storeWasDeleted: Whether the record was deleted in the store after the
  ///     context fetched it, so every field counts as changed.
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

  /// Whether the context changed the value.
  public var isChangedInContext: Bool { mine != base }
}
