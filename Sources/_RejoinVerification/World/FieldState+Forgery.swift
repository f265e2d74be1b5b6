// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension FieldState {
  /// Describes a change that a message of one device made in the name of another
  /// device, or returns `nil` if it changed only its own content.
  ///
  /// A removal of the content of others is not a forgery.
  ///
  /// - Parameters:
  ///   - device: The author of the message.
  ///   - before: The field before the message.
  public func forgery(
    by device: DeviceID, over before: FieldState
  ) -> String? {
    switch (box, before.box) {
    case (.register(let now), .register(let old)):
      now.store.first { $0.dot.device != device && !old.store.contains($0) }
        .map { "\($0.dot) did not write this value" }
    case (.counter(let now), .counter(let old)):
      now.store.entries.filter { $0.device != device }
        == old.store.entries.filter { $0.device != device }
        ? nil : "the sums of others differ"
    case (.ledger(let now), .ledger(let old)):
      now.store.lines.first { author, line in
        let former = old.store.lines[author]
        return author != device
          && (line.count != former?.count || line.sum != former?.sum)
      }.map { "\($0.key) did not append these entries" }
    case (.existence(let now), .existence(let old)):
      now.store.siblings
        .first {
          $0.dot.device != device && !old.store.siblings.contains($0)
        }.map { "\($0.dot) did not write this mark" }
    case (.set, .set): nil
    default: "the field is of another kind"
    }
  }
}
