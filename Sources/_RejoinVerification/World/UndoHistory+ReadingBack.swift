// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin

extension UndoHistory {
  /// Returns the history that an app reads when it restarts.
  ///
  /// - Throws: A mismatch if the history differs after it is read back.
  func readBack() throws(ScriptMismatch) -> UndoHistory {
    let (bytes, read, again): (Data, UndoHistory, Data)
    do {
      bytes = try Self.encoder.encode(self)
      read = try JSONDecoder().decode(UndoHistory.self, from: bytes)
      again = try Self.encoder.encode(read)
    } catch {
      throw ScriptMismatch(
        "the library does not read an undo history it wrote: \(error)")
    }
    try agree("the undo history that is read back", read, self)
    try agree("the undo history is encoded alike", again == bytes, true)
    return read
  }

  private static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return encoder
  }
}
