// SPDX-License-Identifier: Apache-2.0

import _RejoinVerification

/// Choices that are read from bytes, one after another.
///
/// After the last byte, every choice is the first.
struct ByteSource: ChoiceSource {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isEmpty: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// A number from zero up to, and not including, `bound`, which is at most
  /// 256.
  mutating func below(_ bound: Int) -> Int { Int(byte()) % bound }

  mutating func flag() -> Bool { byte() & 1 != 0 }

  /// One of `choices`.
  mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
    choices[below(choices.count)]
  }
}
