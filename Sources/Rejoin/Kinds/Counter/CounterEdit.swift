// SPDX-License-Identifier: Apache-2.0

/// A change of a counter: an optional reset, then increments and decrements.
public struct CounterEdit: Hashable, Sendable {
  /// Whether the edit cancels all earlier changes.
  public internal(set) var isReset = false
  /// The sum of the increments.
  public internal(set) var increments: UInt64 = 0
  /// The sum of the decrements.
  public internal(set) var decrements: UInt64 = 0

  /// Creates an edit without effect.
  public init() {}

  /// Creates a change by `amount`, with an optional reset before it.
  public init(by amount: Int64, isReset: Bool = false) {
    self.isReset = isReset
    if amount >= 0 {
      increments = amount.magnitude
    } else {
      decrements = amount.magnitude
    }
  }

  /// The edit with increments and decrements exchanged.
  var opposite: CounterEdit {
    var edit = self
    (edit.increments, edit.decrements) = (decrements, increments)
    return edit
  }

  /// Cancels all earlier changes, including those of this edit.
  mutating func reset() {
    self = CounterEdit()
    isReset = true
  }

  /// Returns the value of a counter after the edit, if its value before the
  /// edit is `value`.
  public func applied(to value: Int64) -> Int64 {
    let change = WideInt(increments) - WideInt(decrements)
    return Int64(clamping: (isReset ? 0 : WideInt(value)) + change)
  }
}

extension CounterEdit: KindEdit {
  var mayContainReferences: Bool { false }

  var removes: Bool { isReset }

  var byteBound: Int {
    increments == 0 && decrements == 0 && isReset ? 0 : ByteBound.sums
  }

  mutating func append(_ later: CounterEdit) -> Bool {
    var edit = self
    if later.isReset { edit.reset() }
    let p = edit.increments.addingReportingOverflow(later.increments)
    let n = edit.decrements.addingReportingOverflow(later.decrements)
    if p.overflow || n.overflow { return false }
    (edit.increments, edit.decrements) = (p.partialValue, n.partialValue)
    self = edit
    return true
  }

  func add(to digest: inout Digest) {
    digest.add(isReset ? 3 : 2)
    digest.add(increments)
    digest.add(decrements)
  }
}
