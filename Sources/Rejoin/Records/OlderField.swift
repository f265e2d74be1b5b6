// SPDX-License-Identifier: Apache-2.0

/// A field as an older version of the app declared it under the same name.
///
/// If the kind of a field changes between versions, both fields are kept. If
/// only its type changes, the field holds values of both types. Declare how to
/// read the older values:
///
///     let price = register(
///       "price", of: Double.self,
///       fallingBackTo: .register(of: Int.self) { Double($0) },
///       .counter { Double($0) })
///
/// The older fields are read, in their order, only while the new field has not
/// been written. Unsetting the new field is a write. The older fields are never
/// written.
public struct OlderField<Element: FieldValue>: Sendable {
  let kind: FieldKind
  let convert: @Sendable (Value) -> Element?

  private init(
    _ kind: FieldKind, _ convert: @escaping @Sendable (Value) -> Element?
  ) {
    (self.kind, self.convert) = (kind, convert)
  }

  /// A register with values of another type.
  ///
  /// - Parameters:
  ///   - type: The type of its values.
  ///   - convert: Converts an old value; `nil` reads as unset.
  public static func register<Old: FieldValue>(
    of type: Old.Type, _ convert: @escaping @Sendable (Old) -> Element?
  ) -> OlderField {
    OlderField(.register) { Old($0).flatMap(convert) }
  }

  /// A counter, which is read unless all its changes have been cancelled.
  ///
  /// - Parameter convert: Converts the count; `nil` reads as unset.
  public static func counter(
    _ convert: @escaping @Sendable (Int64) -> Element?
  ) -> OlderField {
    OlderField(.counter) { Int64($0).flatMap(convert) }
  }
}
