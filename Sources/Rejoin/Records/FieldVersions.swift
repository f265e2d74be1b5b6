// SPDX-License-Identifier: Apache-2.0

/// A field as declared by this version of the app and by older ones.
struct FieldVersions<Element: FieldValue>: Sendable {
  /// The stored name and kind of the field.
  let key: FieldKey
  /// The older versions, in the order of reading.
  let older: [OlderField<Element>]

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
    if source == key, let element = Element(value) { return element }
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
