// SPDX-License-Identifier: Apache-2.0

/// The content of a field or of one element of a set that undo needs.
///
/// It is small even if the field is large. A save stores it before it changes
/// the field.
package enum UndoContent: Sendable {
  /// The writes of a register, or the marks of an element.
  case siblings(UndoSiblings)
  /// The sums of a counter or a ledger.
  case sums(UndoSums)
}

/// The content that an undo restores.
package enum UndoRestoration {
  /// The value of a register, or whether an element is in a set.
  case value(Value?, element: Value?)
  /// The amounts of a counter or a ledger.
  case amounts([LedgerEdit.Entry])
}

/// The writes of a register, or the marks of an element.
package struct UndoSiblings: Sendable {
  /// A write or a mark.
  struct Sibling: Sendable {
    let dot: Dot
    var time = Timestamp.zero
    /// The written value, or whether a mark inserts the element.
    let value: Value?
  }

  /// The rule that chooses the shown sibling.
  enum Rule: Sendable {
    /// The latest write is shown.
    case latest
    /// The element is shown if it has a mark.
    case any
  }

  let all: [Sibling]
  let rule: Rule
  /// Whether the element was shown from an older field and has no mark.
  var isMoved = false

  init(_ all: [Sibling], _ rule: Rule) { (self.all, self.rule) = (all, rule) }

  /// The shown value.
  var value: Value? {
    switch rule {
    case .latest: latest?.value
    case .any: .bool(!all.isEmpty || isMoved)
    }
  }

  /// The dot of the shown write or of the only mark.
  var decisive: Dot? {
    rule == .latest ? latest?.dot : all.count == 1 ? all[0].dot : nil
  }

  /// The shown write of a register.
  var latest: Sibling? {
    all.max { ($0.time, $0.dot) < ($1.time, $1.dot) }
  }
}

/// The additions of one device to a counter or a ledger, and the decisions which
/// changes are canceled.
package struct UndoSums: Sendable {
  /// The device.
  let device: DeviceID
  /// The number of the device's next entry, or `nil` for a counter.
  ///
  /// A counter identifies a change by the number of its save.
  var next: UInt64?
  /// The sum of the device's changes to a counter.
  var sum: WideInt = 0
  /// The last decision on the changes or entries of each device.
  let decisions: [DeviceID: Cancellation]

  /// Returns whether a decision can be one of the field.
  func allows(_ decision: Cancellation) -> Bool {
    decision.canceled == 0
      || (next == nil
        ? PNCounter.Entry.isSum(decision.sum)
        : DeviceEntries.isSum(decision.sum, of: decision.canceled))
  }
}

extension [LedgerEdit.Entry] {
  /// Appends an amount as one or more entries.
  ///
  /// An amount of zero also becomes an entry, because undo finds earlier
  /// entries by their position.
  mutating func append(_ amount: WideInt, memo: Value?) {
    var rest = amount
    repeat {
      let part = Int64(clamping: rest)
      append(LedgerEdit.Entry(amount: part, memo: memo))
      rest -= WideInt(part)
    } while rest != 0
  }
}
