// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension Episode {
  /// What the server ends with if each device sends what it has changed offline as
  /// one save, and merges it with what has changed there.
  ///
  /// A deletion is not applied if anything has changed on the server. A record that
  /// was deleted there is saved again as a whole.
  ///
  /// - Parameter merge: Returns the server's record with a device's changes, from the
  ///   record that the device had fetched, its own copy, and the uploads that made it.
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
