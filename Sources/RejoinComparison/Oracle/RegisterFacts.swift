// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The values that a register may show in the end.
///
/// A register shows one of several concurrent values. If a device deleted the
/// record, its earlier writes are optional.
struct RegisterFacts {
  let field: String
  /// The last value of each device that did not delete the record.
  private(set) var changes: [(device: String, value: Value?)] = []
  /// The other values that may be shown.
  private var allowed: Set<Value?> = []
  private let base: Value?

  init(_ field: String, base: Content?, _ histories: [History]) {
    self.field = field
    self.base = base.flatMap { [field: $0].value(field) }
    var isForgotten = false
    for history in histories {
      var last: Value??
      for verb in history.verbs(on: field) {
        switch verb {
        case .set(let value): last = .some(value)
        case .clear: last = .some(nil)
        case .forget: (last, isForgotten) = (nil, true)
        case .remove, .insert, .add: break
        }
      }
      guard let last else { continue }
      if history.isDeleted {
        allowed.insert(last)
      } else {
        changes.append((history.device, last))
      }
    }
    guard changes.isEmpty else { return }
    allowed.insert(self.base)
    if isForgotten { allowed.insert(nil) }
  }

  /// Judges the register in a final record.
  ///
  /// - Parameter state: The final record, or `nil` if it does not exist
  ///   although it should.
  func verdict(_ state: PlainRecord?, _ remains: Remains) -> FieldVerdict {
    var verdict = FieldVerdict()
    let shown = state.flatMap { $0.value(field) }
    verdict.hasBase = changes.isEmpty && base != nil
    if changes.isEmpty, state == nil ? base != nil : !allowed.contains(shown) {
      verdict.losesBase = true
      verdict.words = ["\(field) shows \(shown.words), not \(base.words)"]
    }
    for (device, value) in changes {
      verdict.fates[device] =
        state != nil && value == shown
        ? .shown : remains.fate { $0.registerValue == .some(value) }
    }
    let hidden = changes.filter { verdict.fates[$0.device] != .shown }
    guard !hidden.isEmpty else { return verdict }
    if hidden.count == changes.count {
      // A register can show only one of several values.
      let lost = verdict.fates.values.count(where: \.isLoss)
      verdict.excess = max(lost + 1 - Set(changes.map(\.value)).count, 0)
    }
    let fate = hidden.compactMap { verdict.fates[$0.device] }.max()
    let values = Set(hidden.map(\.value)).sortedWithUnset.map(\.words)
    verdict.words = [
      "\(field) shows \(shown.words), not "
        + "\(values.joined(separator: ", ")) (\(fate.words))"
    ]
    return verdict
  }
}

extension Content? {
  /// The value of a register, or `nil` if it is unset.
  fileprivate var registerValue: Value?? {
    switch self {
    case nil: .some(nil)
    case .value(let value): value
    default: nil
    }
  }
}

extension Value? {
  var words: String { map { Content.value($0).short } ?? "unset" }
}

extension Fate? {
  fileprivate var words: String {
    switch self {
    case .kept: "kept as a sibling"
    case .reported: "only reported"
    default: "lost"
    }
  }
}

extension Set<Value?> {
  /// The values in canonical order, starting with that of an unset register.
  var sortedWithUnset: [Value?] {
    let values = compactMap(\.self).sorted()
    return (contains(nil) ? [nil] : []) + values
  }
}
