// SPDX-License-Identifier: Apache-2.0

// A decision: how often it was turned, how many decided changes are not
// canceled if it was, and the sum of those that are. The store writes the last
// decided change.
extension WireWriter {
  mutating func cancellation(_ cancellation: Cancellation) {
    varint(cancellation.turns)
    if cancellation.turns > 0 {
      varint(cancellation.decided - cancellation.canceled)
    }
    if cancellation.canceled > 0 { wide(cancellation.sum) }
  }
}

extension WireReader {
  /// Reads a decision on the changes up to `decided`, which is above zero.
  mutating func cancellation(
    of decided: UInt64
  ) throws(WireError) -> Cancellation {
    let turns = try varint()
    let start = offset
    let kept = turns > 0 ? try varint() : 0
    try require(
      kept <= decided, .invalid, "no more changes than were decided on",
      at: start)
    return Cancellation(
      checked: decided, turns: turns, canceled: decided - kept,
      sum: kept < decided ? try wide() : 0)
  }
}
