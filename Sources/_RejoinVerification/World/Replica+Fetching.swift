// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension Replica {
  /// Reads a record as an editing context fetches it, even if it is deleted.
  ///
  /// This method is public because the fuzz bodies are in another package.
  public func fetched(_ id: RecordID) -> Record { recordForEditing(id) }
}
