// SPDX-License-Identifier: Apache-2.0

/// A field as an older version of the app declared it, under the same name.
///
/// Where the kind of a field changes between versions, both fields are kept. Where
/// only its type changes, the field keeps the values of both types. Say how the
/// older values are read:
///
///     let theme = register("theme", of: String.self, readingAlso: .lww)
///     let price = register(
///       "price", of: Double.self,
///       readingAlso: .register(of: Int.self) { Double($0) },
///       .counter { Double($0) })
///
/// The new field is read first. The older ones, in their order, are read only
/// where nobody has written the new one; unsetting it is a write. They are never
/// written.
public struct OlderField<Element: FieldValue>: Sendable {
  let kind: FieldKind
  let convert: @Sendable (Value) -> Element?

  private init(
    _ kind: FieldKind, _ convert: @escaping @Sendable (Value) -> Element?
  ) {
    (self.kind, self.convert) = (kind, convert)
  }

  /// A register with values of the same type.
  public static var register: OlderField {
    OlderField(.register) { Element($0) }
  }

  /// A register of the kind `lww` with values of the same type.
  public static var lww: OlderField { OlderField(.lww) { Element($0) } }

  /// A register with values of another type.
  ///
  /// - Parameters:
  ///   - type: The type of its values.
  ///   - convert: Makes a new value of an old one; `nil` reads as unset.
  public static func register<Old: FieldValue>(
    of type: Old.Type, _ convert: @escaping @Sendable (Old) -> Element?
  ) -> OlderField {
    OlderField(.register) { Old($0).flatMap(convert) }
  }

  /// A register of the kind `lww` with values of another type.
  ///
  /// - Parameters:
  ///   - type: The type of its values.
  ///   - convert: Makes a new value of an old one; `nil` reads as unset.
  public static func lww<Old: FieldValue>(
    of type: Old.Type, _ convert: @escaping @Sendable (Old) -> Element?
  ) -> OlderField {
    OlderField(.lww) { Old($0).flatMap(convert) }
  }

  /// A counter, whose value is read as long as it is not reset.
  ///
  /// - Parameter convert: Makes a value of the count; `nil` reads as unset.
  public static func counter(
    _ convert: @escaping @Sendable (Int64) -> Element?
  ) -> OlderField {
    OlderField(.counter) { Int64($0).flatMap(convert) }
  }
}
