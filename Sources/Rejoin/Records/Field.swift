// SPDX-License-Identifier: Apache-2.0

/// The declaration of a field of an entity.
public struct Field<Owner: Entity, Kind: FieldType>: Sendable {
  /// The name and kind under which the field is stored.
  public let key: FieldKey

  /// Whether concurrent writes of the register are neither listed nor reported.
  let isQuiet: Bool
  let older: [OlderField<Kind.Element>]

  /// Creates a field; entities do this with `register(_:of:)` and its like.
  public init(_ name: String) { self.init(name, fallingBackTo: []) }

  init(
    _ name: String, isQuiet: Bool = false,
    fallingBackTo older: [OlderField<Kind.Element>]
  ) {
    key = FieldKey(name, Kind.kind)
    (self.isQuiet, self.older) = (isQuiet, older)
  }
}

/// A field of any entity and kind.
protocol DeclaredField {
  var key: FieldKey { get }
  var isQuiet: Bool { get }
  /// The keys of older versions of the field that are also read.
  var olderKeys: Set<FieldKey> { get }
}

extension Field: DeclaredField {
  var olderKeys: Set<FieldKey> {
    Set(older.map { FieldKey(key.name, $0.kind) }).subtracting([key])
  }
}

extension Field {
  /// The first version of the field that has been written, and its visible
  /// value.
  ///
  /// The current version comes first.
  ///
  /// - Parameter shown: The visible value of a field: nothing if it has not
  ///   been written, and `nil` if a write has unset it.
  func source(
    _ shown: (FieldKey) -> Value??
  ) -> (key: FieldKey, value: Value?)? {
    if let value = shown(key) { return (key, value) }
    for older in older where older.kind != key.kind {
      let key = FieldKey(key.name, older.kind)
      if let value = shown(key) { return (key, value) }
    }
    return nil
  }

  /// Converts a value that is stored under the key of a version of this field.
  func element(_ value: Value, of source: FieldKey) -> Kind.Element? {
    if source == key, let element = Kind.Element(value) { return element }
    for older in older where older.kind == source.kind {
      if let element = older.convert(value) { return element }
    }
    return nil
  }

  /// Reads the value of a register.
  package func element(_ shown: (FieldKey) -> Value??) -> Kind.Element? {
    guard let (key, value) = source(shown), let value else { return nil }
    return element(value, of: key)
  }
}
