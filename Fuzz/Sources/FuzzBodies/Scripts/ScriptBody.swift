// SPDX-License-Identifier: Apache-2.0

import _RejoinVerification

/// Takes the bytes as choices of a script, whose replicas must agree with the
/// oracle.
struct ScriptBody {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func check() throws(FuzzFailure) {
    let script = Script(choosing: bytes)
    do throws(ScriptMismatch) {
      try World<ReplicaUnderTest>.run(script)
      try World<FragmentingReplica>.run(script)
    } catch {
      throw FuzzFailure("\(error)\n\(script.replayText())")
    }
  }
}
