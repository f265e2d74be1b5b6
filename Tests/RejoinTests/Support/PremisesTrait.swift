// SPDX-License-Identifier: Apache-2.0

import Testing
import _RejoinVerification

/// Fails a test instead of trapping if a premise of the library does not hold.
struct PremisesTrait: SuiteTrait, TestTrait {
  let isRecursive = true

  func prepare(for test: Test) async throws { try Premises.check() }
}

extension Trait where Self == PremisesTrait {
  /// Checks the premises of a test that encodes.
  static var encodes: Self { Self() }
}
