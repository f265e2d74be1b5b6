// SPDX-License-Identifier: Apache-2.0

/// A field as this version of the app declares it, and as older versions did.
struct FieldVersions<Element: FieldValue>: Sendable {
  /// The name and kind under which the field is stored.
  let key: FieldKey
  /// The older versions, in the order in which they are read.
  let older: [OlderField<Element>]

  /// The keys of the older versions of other kinds.
  var olderKeys: [FieldKey] {
    var keys: [FieldKey] = []
    for older in older {
      let key = FieldKey(key.name, older.kind)
      if key != self.key, !keys.contains(key) { keys.append(key) }
    }
    return keys
  }

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
  /// - Parameter shown: Returns the visible value of a field: nothing if it has not
  ///   been written, and `nil` if a write has unset it.
  func value(_ shown: (FieldKey) -> Value??) -> Element? {
    if let value = shown(key) { return value.flatMap { element($0, of: key) } }
    return olderValue(shown)?.element
  }

  /// Returns the elements of a set, sorted.
  ///
  /// - Parameters:
  ///   - values: The values in the set, or `nil` if no save has touched it.
  ///   - shown: Returns the visible value of an older version.
  func elements(
    _ values: [Value]?, _ shown: (FieldKey) -> Value??
  ) -> [Element] {
    guard let values else {
      return olderValue(shown)?.element.map { [$0] } ?? []
    }
    let elements = values.compactMap { element($0, of: key) }
    if older.isEmpty { return elements }
    let unique = Dictionary(elements.map { ($0.fieldValue, $0) }) { $1 }
    return unique.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Returns the value of the first older version that has been written.
  private func olderValue(
    _ shown: (FieldKey) -> Value??
  ) -> (key: FieldKey, element: Element?)? {
    for key in olderKeys {
      guard let value = shown(key) else { continue }
      return (key, value.flatMap { element($0, of: key) })
    }
    return nil
  }
}
