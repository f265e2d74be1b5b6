// SPDX-License-Identifier: Apache-2.0

import RejoinStore

extension HubConnection {
  /// Erases a scope in one call, without a queue.
  package func eraseScope(_ name: String) throws {
    var batch: ErasureBatch? = ErasureBatch()
    while let next = batch {
      try make(.erase(next), in: name)
      batch = next.following
    }
  }
}
