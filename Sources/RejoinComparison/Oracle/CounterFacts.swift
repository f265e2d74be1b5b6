// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a counter must show in the end: the base and every increment, except
/// those that a reset had seen.
struct CounterFacts {
  let field: String
  /// The base; zero if any device reset the counter.
  private var start: Int64
  /// The sum of the increments that no reset had seen.
  private var counted: Int64 = 0
  /// The part of `counted` whose device then deleted the record.
  private var withdrawn: Int64 = 0

  init(_ field: String, base: Content?, _ histories: [History]) {
    self.field = field
    start = base.map { [field: $0].count(field) } ?? 0
    for history in histories {
      var sum: Int64 = 0
      for verb in history.verbs(on: field) {
        switch verb {
        case .add(let amount): sum = sum.addingClamped(amount)
        case .forget, .clear: (sum, start) = (0, 0)
        case .set(.int(let number)): (sum, start) = (number, 0)
        case .set, .remove, .insert: break
        }
      }
      counted = counted.addingClamped(sum)
      if history.isDeleted { withdrawn = withdrawn.addingClamped(sum) }
    }
  }

  /// Compares the counter with the nearest of the correct values.
  ///
  /// If a device deleted the record, its increments before may count or not.
  func losses(in state: PlainRecord?) -> [Loss] {
    let found = state.map { $0.count(field) } ?? start
    let without = counted.addingClamped(0 &- withdrawn)
    let expected = [counted, without].map { start.addingClamped($0) }
    let nearest = expected.min {
      $0.distance(from: found) < $1.distance(from: found)
    }
    guard let nearest, nearest != found else { return [] }
    return [.counter(field, expected: nearest, found: found)]
  }
}
