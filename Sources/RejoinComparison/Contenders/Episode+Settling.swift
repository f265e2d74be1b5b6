// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension Episode {
  /// Returns the server's final record if each device merges its offline
  /// changes as one save.
  ///
  /// A deletion is not applied if the server's record changed. If the record
  /// was deleted on the server, a device saves its whole copy again.
  ///
  /// - Parameter merge: A closure that returns the server's record with a
  ///   device's changes. It receives the record that the device fetched, the
  ///   device's copy, the uploads that led to this copy, and the server's
  ///   record.
  func settled(
    _ merge: (
      _ ancestor: PlainRecord, _ mine: PlainRecord, _ uploads: [Upload],
      _ server: PlainRecord
    ) -> PlainRecord
  ) -> PlainRecord? {
    var server = base
    let uploads = Dictionary(grouping: self.uploads, by: \.device)
    for device in devices {
      guard let made = uploads[device], let last = made.last else { continue }
      let ancestor = copy(of: device)
      guard let mine = last.after else {
        if server == base { server = nil }
        continue
      }
      guard let record = server ?? (ancestor == nil ? [:] : nil) else {
        server = mine
        continue
      }
      server = merge(ancestor ?? [:], mine, made, record)
    }
    return server
  }
}
