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

  init(_ change: SaveUndo.Change, to place: SaveUndo.Place) {
    isThere = change.isThere
    beside = change.beside.sorted()
    if case .value(let value, let time)? = change.before,
      case .dot(let dot) = change.superseded
    {
      before = Before(value: value, time: place.isMark ? nil : time, dot: dot)
    } else {
      before = nil
    }
  }

  func change(
    to place: SaveUndo.Place, by save: SaveUndo.Point, _ decoder: any Decoder
  ) throws -> SaveUndo.Change {
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
    if let before { try check(before, in: place, decoder) }
    return SaveUndo.Change(
      save: save, isThere: isThere,
      before: before.map { .value($0.value, at: $0.time ?? .zero) },
      superseded: .dot(before?.dot), beside: Set(beside))
  }

  private func check(
    _ before: Before, in place: SaveUndo.Place, _ decoder: any Decoder
  ) throws {
    guard place.isMark else {
      guard before.time != nil, before.dot != nil else {
        throw decoder.corrupted(
          "A superseded write must have a time and a dot.")
      }
      return
    }
    // An element has no marks that say that it is missing.
    guard before.time == nil, before.value == true else {
      throw decoder.corrupted(
        "Superseded marks of an element must be `true`, without a time.")
    }
  }
}

extension SaveUndo.Place {
  /// Whether the place has marks, and not the writes of a register.
  fileprivate var isMark: Bool { element != nil }
}
