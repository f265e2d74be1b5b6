// SPDX-License-Identifier: Apache-2.0

extension Value {
  /// A number that sorts like the value and is equal for few other values.
  fileprivate var rank: UInt64 {
    let prefix =
      if case .string(let text) = self { UTF8Order.prefix(of: text) } else {
        0 as UInt64
      }
    return UInt64(tag) << 56 | prefix >> 8
  }
}

extension Sequence {
  /// Returns the elements, sorted by a value of each.
  ///
  /// Few comparisons read a whole text, because its first bytes decide most of
  /// them.
  func sorted(byValue value: (Element) -> Value) -> [Element] {
    let all = Array(self)
    var order = all.indices.map { (rank: value(all[$0]).rank, place: $0) }
    order.sort { a, b in
      a.rank == b.rank
        ? value(all[a.place]) < value(all[b.place]) : a.rank < b.rank
    }
    return order.map { all[$0.place] }
  }
}
