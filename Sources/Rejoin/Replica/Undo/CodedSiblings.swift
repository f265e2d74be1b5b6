// SPDX-License-Identifier: Apache-2.0

/// The encoded form of a change of a register or an element.
struct CodedSiblings: Codable {
  /// The siblings that the save superseded.
  struct Before: Codable {
    let value: Value?
    /// The time of the write, or `nil` for marks.
    let time: Timestamp?
    /// The visible write or the only mark, or `nil` for several marks.
    let dot: Dot?
  }

  let isThere: Bool
  let before: Before?
  let beside: [Dot]

  init(isThere: Bool, before: Before?, beside: [Dot]) {
    (self.isThere, self.before, self.beside) = (isThere, before, beside)
  }

  init(_ change: UndoStep.Change) {
    isThere = change.isThere
    beside = change.beside.sorted()
    if case .value(let value, let time)? = change.before {
      before = Before(value: value, time: time, dot: change.superseded)
    } else {
      before = nil
    }
  }

  func change(
    of rule: UndoSiblings.Rule, by save: UndoStep.Point
  ) throws(UndoFault) -> UndoStep.Change {
    try require(
      isThere || before != nil,
      "A change that is no longer there must have superseded something.")
    try require(
      zip(beside, beside.dropFirst()).allSatisfy(<)
        && (beside + [before?.dot].compactMap(\.self))
          .allSatisfy { $0.sequence > 0 },
      "Dots must be sorted and numbered from one.")
    if let before { try check(before, of: rule) }
    return UndoStep.Change(
      save: save, isThere: isThere,
      before: before.map { .value($0.value, at: $0.time) },
      superseded: before?.dot, beside: Set(beside))
  }

  private func check(
    _ before: Before, of rule: UndoSiblings.Rule
  ) throws(UndoFault) {
    guard rule == .any else {
      return try require(
        before.time != nil && before.dot != nil,
        "A superseded write must have a time and a dot.")
    }
    // A mark of an element shows only that the element is in the set.
    try require(
      before.time == nil && before.value == true,
      "Superseded marks of an element must be `true`, without a time.")
  }
}
