// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification

/// A decoded message of any kind.
enum Message {
  case delta(Delta)
  case vectorClock(VectorClock)
  case replicaVersion(ReplicaVersion)
  case state(ReplicaState)
  case token(RestoreToken)
  case undoStep(UndoStep)

  /// Decodes a message of the kind that its second byte names.
  init(decoding bytes: [UInt8]) throws(WireError) {
    switch bytes.dropFirst().first.map({ UnicodeScalar($0) }) {
    case "v": self = .vectorClock(try VectorClock(decoding: bytes))
    case "c": self = .replicaVersion(try ReplicaVersion(decoding: bytes))
    case "p": self = .state(try ReplicaState(decoding: bytes))
    case "t": self = .token(try RestoreToken(decoding: bytes))
    case "u": self = .undoStep(try UndoStep(storedBytes: bytes))
    default: self = .delta(try Delta(decoding: bytes))
    }
  }

  /// Encodes the message.
  func encoded() -> [UInt8] {
    switch self {
    case .delta(let delta): delta.encoded()
    case .vectorClock(let clock): clock.encoded()
    case .replicaVersion(let clock): clock.encoded()
    case .state(let state): state.encoded()
    case .token(let token): token.encoded()
    case .undoStep(let step): step.storedBytes
    }
  }

  /// The records in the message as a delta, or `nil` if it contains none.
  var delta: Delta? {
    if case .delta(let delta) = self { delta } else { nil }
  }
}
