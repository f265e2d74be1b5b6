// SPDX-License-Identifier: Apache-2.0

/// The states, the calls and the kept message of a search.
struct CallConfiguration: Hashable {
  /// A store or the hub.
  struct Side: Hashable {
    /// The number of the state on disk.
    var state: Int
    /// The number of the state whose token is stored, or `nil`.
    var token: Int?
    /// The number of the state in the backup, or of a server that lags.
    var backup: Int?
    /// The number of the call that runs, or `nil`.
    var call: Int?
    /// The number of the version that the last call showed, or `nil`.
    var hint: CallHint?
    /// The sender of the transfer that is not complete, or `nil`.
    var sender: Int?
    /// The number of saves that were made here.
    var saves = 0
    var wasRestored = false
  }

  var sides: [Side]
  /// The number of a message that arrives again or late, or `nil`.
  var kept: CallMessage?
  /// The number of faults that may still happen.
  var faults: Int
}

/// The version that a peer showed last.
struct CallHint: Hashable {
  let peer: Int
  let version: Int
}

/// A message on its way.
struct CallMessage: Hashable {
  let number: Int
  let isAnswer: Bool
  /// The side that asks.
  let caller: Int
  let peer: Int
}
