// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The number of cases that the tests try: few for every change, more at night.
///
/// To run the nightly tests, use `REJOIN_TIER=nightly swift test`.
package enum Tier {
  /// Whether the nightly tests run.
  package static let isNightly =
    ProcessInfo.processInfo.environment["REJOIN_TIER"] == "nightly"
}
