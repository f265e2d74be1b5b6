// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension Replica {
  /// Reads a record as an editing context fetches it, even if it is deleted.
  ///
  /// Fuzz bodies are in a package of their own.
  public func fetched(_ id: RecordID) -> Record { recordForEditing(id) }
}
