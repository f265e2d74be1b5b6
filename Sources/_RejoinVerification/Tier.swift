// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How much the tests try: little with every change, more at night.
///
/// `REJOIN_TIER=nightly swift test` chooses the latter.
package enum Tier {
  /// Whether it is night.
  package static let isNightly =
    ProcessInfo.processInfo.environment["REJOIN_TIER"] == "nightly"
}
