// SPDX-License-Identifier: Apache-2.0

/// The encoded form of a change of a register or an element.
struct CodedSiblings: Codable {
  /// The siblings that the save superseded.
  private struct Before: Codable {
    let value: Value?
    /// The time of the write, or `nil` for marks.
    let time: Timestamp?
    /// The visible write or the only mark, or `nil` for several marks.
    let dot: Dot?
  }

  private let isThere: Bool
  private let before: Before?
  private let beside: [Dot]

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
    of rule: UndoSiblings.Rule, by save: UndoStep.Point, _ decoder: any Decoder
  ) throws -> UndoStep.Change {
    guard isThere || before != nil else {
      throw decoder.corrupted(
        "A change that is no longer there must have superseded something.")
    }
    guard zip(beside, beside.dropFirst()).allSatisfy(<),
      (beside + [before?.dot].compactMap(\.self))
        .allSatisfy({ $0.sequence > 0 })
    else {
      throw decoder.corrupted("Dots must be sorted and numbered from one.")
    }
    if let before { try check(before, of: rule, decoder) }
    return UndoStep.Change(
      save: save, isThere: isThere,
      before: before.map { .value($0.value, at: $0.time) },
      superseded: before?.dot, beside: Set(beside))
  }

  private func check(
    _ before: Before, of rule: UndoSiblings.Rule, _ decoder: any Decoder
  ) throws {
    guard rule == .any else {
      guard before.time != nil, before.dot != nil else {
        throw decoder.corrupted(
          "A superseded write must have a time and a dot.")
      }
      return
    }
    // A mark of an element shows only that the element is in the set.
    guard before.time == nil, before.value == true else {
      throw decoder.corrupted(
        "Superseded marks of an element must be `true`, without a time.")
    }
  }
}
