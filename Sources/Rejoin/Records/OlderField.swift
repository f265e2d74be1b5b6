// SPDX-License-Identifier: Apache-2.0

/// A field as an older version of the app declared it under the same name.
///
/// If the kind of a field changes between versions, the replica keeps both
/// fields. If only the type changes, the field contains values of both types.
/// Declare how to read the older values:
///
///     let price = register(
///       "price", of: Double.self,
///       fallingBackTo: .register(of: Int.self) { Double($0) },
///       .counter { Double($0) })
///     let tags = set(
///       "tags", of: String.self,
///       fallingBackTo: .register(of: String.self) { $0 })
///
/// Fields of other kinds are read, in the declared order, only until a save
/// writes the new field. Unsetting the field is also a write. Older versions of
/// the app can still write the older fields, and
/// ``TypedRecord/olderValues(of:)`` lists their values. The new version never
/// writes them.
///
/// A register shows the first element of an older set. A new set shows the
/// value of an older field as its only element, and the first edit of the new
/// set also inserts that element.
public struct OlderField<Element: FieldValue>: Sendable {
  /// A value in an older field.
  struct Written {
    let value: Value
    let saves: [Dot]
    let time: Timestamp?
  }

  let kind: FieldKind
  let convert: @Sendable (Value) -> Element?
  /// Returns the values of the field with a key.
  let values: @Sendable (Record, FieldKey) -> [Written]

  private init(
    _ kind: FieldKind, _ convert: @escaping @Sendable (Value) -> Element?,
    values: @escaping @Sendable (Record, FieldKey) -> [Written]
  ) {
    (self.kind, self.convert, self.values) = (kind, convert, values)
  }

  /// A register with values of another type.
  ///
  /// - Parameters:
  ///   - type: The type of its values.
  ///   - convert: A closure that converts a value, or returns `nil` to hide it.
  public static func register<Old: FieldValue>(
    of type: Old.Type, _ convert: @escaping @Sendable (Old) -> Element?
  ) -> OlderField {
    OlderField(.register) {
      Old(fieldValue: $0).flatMap(convert)
    } values: { record, key in
      record.writes(of: key).compactMap { write in
        guard let value = record.visible(write.value) else { return nil }
        return Written(value: value, saves: [write.dot], time: write.time)
      }
    }
  }

  /// A counter, which is read unless all its changes are canceled.
  ///
  /// - Parameter convert: A closure that converts the count, or returns `nil`
  ///   to hide it.
  public static func counter(
    _ convert: @escaping @Sendable (Int64) -> Element?
  ) -> OlderField {
    OlderField(.counter) {
      Int64(fieldValue: $0).flatMap(convert)
    } values: { record, key in
      let field = record[key]
      guard let value = field.shownValues?.first else { return [] }
      var saves: [Dot] = []
      field.read { $0.forEachSave { save, _ in saves.append(save) } }
      return [Written(value: value, saves: saves.sorted(), time: nil)]
    }
  }

  /// A set with elements of another type, which is read unless it is empty.
  ///
  /// - Parameters:
  ///   - type: The type of its elements.
  ///   - convert: A closure that converts an element, or returns `nil` to hide
  ///     it.
  public static func set<Old: FieldValue>(
    of type: Old.Type, _ convert: @escaping @Sendable (Old) -> Element?
  ) -> OlderField {
    OlderField(.set) {
      Old(fieldValue: $0).flatMap(convert)
    } values: { record, key in
      record.insertions(of: key).sorted { $0.key < $1.key }.map {
        Written(value: $0, saves: $1.sorted(), time: nil)
      }
    }
  }
}

/// A value that an older version of the app wrote under another kind.
public struct OlderValue<Element: FieldValue>: Sendable {
  /// The value, converted by the declaration of the field.
  public let value: Element
  /// The kind of the older field.
  public let kind: FieldKind
  /// The saves that wrote the value, sorted, each with its device.
  ///
  /// For a register, this is one save. For a counter, it is the last save of
  /// each device that changed the counter.
  public let saves: [Dot]
  /// The timestamp of the write, or `nil` for a counter or a set, which do not
  /// store it.
  public let time: Timestamp?
}

extension TypedRecord {
  /// Returns the values that older app versions wrote under other kinds, in the
  /// order of fallback.
  ///
  ///     let stock = record.olderValues(of: \.stock).first
  ///     stock?.value                          // "7 pieces"
  ///     stock?.saves.map(\.device)            // [phone]
  ///
  /// An older version of the app does not know the new field, and continues to
  /// write the older one. After the new field is written, it hides these edits.
  ///
  /// The list omits values that the declaration cannot convert.
  public func olderValues<Kind: FieldType>(
    of field: KeyPath<Owner, Field<Owner, Kind>>
  ) -> [OlderValue<Kind.Element>] {
    let versions = fields[field].versions
    return versions.olderKeys.flatMap { key in
      versions.older.first { $0.kind == key.kind }?.values(record, key)
        .compactMap { written in
          versions.element(written.value, of: key).map {
            OlderValue(
              value: $0, kind: key.kind, saves: written.saves,
              time: written.time)
          }
        } ?? []
    }
  }
}

/// A field as declared by this version of the app and by older ones.
@usableFromInline
struct FieldVersions<Element: FieldValue>: Sendable {
  /// The stored name and kind of the field.
  @usableFromInline let key: FieldKey
  /// The older versions, in the order of reading.
  @usableFromInline let older: [OlderField<Element>]

  /// The keys of the older versions with other kinds.
  var olderKeys: [FieldKey] {
    var keys: [FieldKey] = []
    for older in older {
      let key = FieldKey(key.name, older.kind)
      if key != self.key, !keys.contains(key) { keys.append(key) }
    }
    return keys
  }

  /// Whether a set may contain elements of an older type.
  var hasOlderElements: Bool { older.contains { $0.kind == key.kind } }

  /// Converts a value that is stored under the key of a version.
  func element(_ value: Value, of source: FieldKey) -> Element? {
    if source == key, let element = Element(fieldValue: value) {
      return element
    }
    for older in older where older.kind == source.kind {
      if let element = older.convert(value) { return element }
    }
    return nil
  }

  /// Returns the value of a register.
  ///
  /// - Parameter shown: A closure that returns the values that a version shows,
  ///   or `nil` if that version is unwritten.
  func value(_ shown: (FieldKey) -> [Value]?) -> Element? {
    if let values = shown(key) {
      return values.first.flatMap { element($0, of: key) }
    }
    return olderElements(shown).first
  }

  /// Returns the value of a register in a record.
  @usableFromInline
  func value(in record: Record) -> Element? { value(record.shown) }

  /// Returns the elements of a set, sorted.
  ///
  /// - Parameters:
  ///   - values: The values in the set, or `nil` if no save touched it.
  ///   - shown: A closure that returns the values that an older version shows.
  func elements(
    _ values: [Value]?, _ shown: (FieldKey) -> [Value]?
  ) -> [Element] {
    guard let values else { return olderElements(shown) }
    let elements = values.compactMap { element($0, of: key) }
    if older.isEmpty { return elements }
    let unique = Dictionary(elements.map { ($0.fieldValue, $0) }) { $1 }
    return unique.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Returns the values of the first older version that was written.
  func olderElements(_ shown: (FieldKey) -> [Value]?) -> [Element] {
    for key in olderKeys {
      guard let values = shown(key) else { continue }
      return values.compactMap { element($0, of: key) }
    }
    return []
  }
}
