// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The order of the records in a list: by a few criteria, and then by key.
package struct ListOrder<Owner: Entity>: Sendable {
  typealias Element = TypedRecord<Owner>

  /// One of the comparisons that make up an order.
  enum Criterion: Sendable {
    /// The order of the stored forms of values, which a list keeps.
    case value(@Sendable (Record) -> Value?, SortOrder)
    /// An order of the app.
    case comparison(@Sendable (Element, Element) -> Bool)
  }

  let criteria: [Criterion]
  /// The criterion whose values the elements of a section have in common, or `nil`
  /// without sections.
  private(set) var section: Int?

  /// The order of the keys.
  init() { criteria = [] }

  /// The order of the values of a register, with unset ones last.
  package init<Kind: FieldType>(
    by field: KeyPath<Owner, Field<Owner, Kind>>, _ order: SortOrder
  ) where Kind.Reading == Kind.Element? {
    let field = Owner()[keyPath: field]
    criteria = [Criterion(order) { Kind.read(field, of: $0) }]
  }

  /// The order of the numbers of a counter or a ledger.
  package init<Kind: FieldType>(
    by field: KeyPath<Owner, Field<Owner, Kind>>, _ order: SortOrder
  ) where Kind.Reading == Kind.Element {
    let field = Owner()[keyPath: field]
    criteria = [Criterion(order) { Kind.read(field, of: $0) }]
  }

  /// The order that a closure defines.
  init(
    by areInIncreasingOrder: @escaping @Sendable (Element, Element) -> Bool
  ) {
    criteria = [.comparison(areInIncreasingOrder)]
  }

  /// Returns the order of the values of a field, and then this one.
  func sectioned<V: FieldValue>(
    by field: KeyPath<Owner, Field<Owner, MVRegister<V>>>
  ) -> ListOrder {
    let field = Owner()[keyPath: field]
    let order = Criterion(.forward) { MVRegister.read(field, of: $0) }
    if case .value = order { return ListOrder([order] + criteria, section: 0) }
    // Values that a type orders alike can be different.
    let value = Criterion.value(
      { MVRegister.read(field, of: $0)?.fieldValue.canonical }, .forward)
    return ListOrder([order, value] + criteria, section: 1)
  }

  private init(_ criteria: [Criterion], section: Int) {
    (self.criteria, self.section) = (criteria, section)
  }
}

extension ListOrder.Criterion {
  /// The order of a type's values, with unset ones last.
  fileprivate init<V: FieldValue>(
    _ order: SortOrder, _ read: @escaping @Sendable (Record) -> V?
  ) {
    switch V.self {
    case is String.Type, is Double.Type, is Float.Type, is Date.Type,
      is Position.Type:
      self = .value({ read($0)?.fieldValue.canonical }, order)
    case let type as any FixedWidthInteger.Type where type.bitWidth <= 64:
      self = .value({ read($0)?.fieldValue.canonical }, order)
    case is any Comparable.Type:
      self = .comparison { a, b in
        guard let a = read(a.record) else { return false }
        guard let b = read(b.record) else { return true }
        return order == .forward ? isLess(a, b) : isLess(b, a)
      }
    default: self = .value({ read($0)?.fieldValue.canonical }, order)
    }
  }
}

/// Returns whether a value of a type with an order is less than another one.
private func isLess<V>(_ a: V, _ b: V) -> Bool {
  func isLess<C: Comparable>(_ a: C) -> Bool {
    (b as? C).map { a < $0 } ?? false
  }
  return (a as? any Comparable).map { isLess($0) } ?? false
}

extension SortOrder {
  /// Compares two values, with `nil` last.
  func compare(_ a: Value?, _ b: Value?) -> Int {
    guard let a else { return b == nil ? 0 : 1 }
    guard let b else { return -1 }
    let result = a < b ? -1 : b < a ? 1 : 0
    return self == .forward ? result : -result
  }

  /// Returns indices in the order of their values, and those of equal values in
  /// the given order.
  func sorted(_ indices: [Int], by values: [Value?]) -> [Int] {
    typealias Entry = (prefix: SortPrefix, place: Int, index: Int)
    var entries: [Entry] = []
    entries.reserveCapacity(indices.count)
    for (place, index) in indices.enumerated() {
      let prefix = SortPrefix(values[index], isReversed: self == .reverse)
      entries.append((prefix, place, index))
    }
    entries.sort { a, b in
      if a.prefix != b.prefix { return a.prefix < b.prefix }
      let result = compare(values[a.index], values[b.index])
      return result == 0 ? a.place < b.place : result < 0
    }
    return entries.map(\.index)
  }
}

/// Two numbers that sort like an optional value, with `nil` last.
///
/// They decide most comparisons of a sort without reading a whole value. Different
/// values can have equal numbers.
private struct SortPrefix: Equatable {
  private var high: UInt64 = 0
  private var low: UInt64 = 0

  static func < (a: SortPrefix, b: SortPrefix) -> Bool {
    a.high == b.high ? a.low < b.low : a.high < b.high
  }

  init(_ value: Value?, isReversed: Bool) {
    // The highest byte is the type, and no type has the number of `nil`.
    switch value {
    case nil:
      (high, low) = (.max, .max)
      return
    case .null: break
    case .bool(let flag): add(1, flag ? 1 : 0)
    case .int(let number): add(2, UInt64(bitPattern: number) ^ 1 << 63)
    case .double(let number):
      // The bits of positive numbers are in order, and those of negative numbers
      // in reverse.
      let bits = number.bitPattern
      add(3, bits >> 63 == 1 ? ~bits : bits | 1 << 63)
    case .string(var text): text.withUTF8 { add(4, $0) }
    case .bytes(let bytes): bytes.withUnsafeBufferPointer { add(5, $0) }
    case .date(let number): add(6, UInt64(bitPattern: number) ^ 1 << 63)
    case .reference: add(7, 0)
    }
    if isReversed { (high, low) = (~high, ~low) }
  }

  private mutating func add(_ type: UInt64, _ number: UInt64) {
    (high, low) = (type << 56 | number >> 8, number << 56)
  }

  private mutating func add(
    _ type: UInt64, _ bytes: UnsafeBufferPointer<UInt8>
  ) {
    high = type << 56
    for i in 0..<min(bytes.count, 15) {
      let byte = UInt64(bytes[i])
      if i < 7 {
        high |= byte << UInt64(48 - 8 * i)
      } else {
        low |= byte << UInt64(112 - 8 * i)
      }
    }
  }
}
