// SPDX-License-Identifier: Apache-2.0

import RejoinStore

extension Patching {
  /// The conditions for patches of every record.
  package static var forTesting: Patching {
    var patching = Patching()
    (patching.least, patching.percent) = (0, 400)
    return patching
  }
}
