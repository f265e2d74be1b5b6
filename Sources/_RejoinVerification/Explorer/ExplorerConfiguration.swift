// SPDX-License-Identifier: Apache-2.0

/// The states of three devices, the saves made so far, and the kept messages,
/// in two words.
///
/// States and messages are numbers. The kept messages are sorted, because their
/// order makes no difference.
struct ExplorerConfiguration: Equatable {
  /// Three states of 19 bits each, and a bit for each save that was made.
  private(set) var states: UInt64
  /// Three messages of 21 bits each, or zero for an empty slot.
  private(set) var messages: UInt64

  static let stateLimit = 1 << 19
  static let messageLimit = 1 << 21

  init(states: UInt64, messages: UInt64) {
    (self.states, self.messages) = (states, messages)
  }

  /// Creates the initial configuration from the states of three devices.
  init(_ a: Int, _ b: Int, _ c: Int) {
    states = UInt64(a) | UInt64(b) << 19 | UInt64(c) << 38
    messages = 0
  }

  func state(_ i: Int) -> Int {
    Int(truncatingIfNeeded: states >> UInt64(19 &* i)) & 0x7ffff
  }

  func replacing(_ i: Int, by state: Int) -> ExplorerConfiguration {
    let shift = UInt64(19 &* i)
    let rest = states & ~(0x7ffff << shift)
    return .init(
      states: rest | UInt64(truncatingIfNeeded: state) << shift,
      messages: messages)
  }

  func isMade(_ save: Int) -> Bool { states >> UInt64(57 &+ save) & 1 == 1 }

  func making(_ save: Int) -> ExplorerConfiguration {
    .init(states: states | 1 << UInt64(57 &+ save), messages: messages)
  }

  func message(_ slot: Int) -> Int {
    Int(truncatingIfNeeded: messages >> UInt64(21 &* slot)) & 0x1fffff
  }

  /// Returns the configuration with another message in a slot.
  func keeping(_ message: Int, in slot: Int) -> ExplorerConfiguration {
    var kept = [self.message(0), self.message(1), self.message(2)]
    kept[slot] = message
    kept.sort(by: >)
    return .init(
      states: states,
      messages: UInt64(kept[0]) | UInt64(kept[1]) << 21
        | UInt64(kept[2]) << 42)
  }
}
