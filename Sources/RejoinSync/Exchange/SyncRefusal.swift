// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

/// The reason why a peer refuses a request, or the part of one.
///
///     do {
///       try await store.sync(scope: "list-17") { try await post($0) }
///     } catch SyncRefusal.gone {
///       // The list was erased for everyone. The store still has it.
///     }
///
/// The check of a `HubSession` can throw a refusal, which the device then
/// receives. It receives ``denied`` for any other error of the check.
public enum SyncRefusal: Error, Hashable, Sendable {
  /// The user has no right to read the scope, or to write the part.
  case denied
  /// The scope was erased, and its name cannot be used again, or its zone was deleted.
  case gone
  /// The peer does not answer for the scope, or the account is another one.
  case wrongScope
  /// The part has more records or a larger record than the peer accepts.
  case tooLarge
  /// The scope has as many devices as the peer accepts, or the storage is full.
  case full
  /// One side has a newer version of the library.
  case unsupportedFormat
  /// The request or the answer cannot be decoded.
  case damaged
  /// The peer cannot answer now, and asks to wait some seconds.
  case busy(seconds: Int)
}

extension SyncRefusal: CustomStringConvertible {
  /// The reason and its remedy.
  public var description: String {
    switch self {
    case .denied:
      "The peer denied access to the scope. Check the rights of the user."
    case .gone:
      "The scope was erased, or its zone in iCloud was deleted. Delete it here with "
        + "`deleteScope()`, keep it without syncing, or let `resume` create the zone."
    case .wrongScope:
      "The peer does not answer for the scope. Compare the names of the scopes, "
        + "which must have equal bytes, and the account with that of the first pass."
    case .tooLarge:
      "The part is too large for the peer. Make the record smaller, or raise the "
        + "limits of the hub."
    case .full:
      "The scope has too many devices, or the storage is full. Raise "
        + "`devicesPerScope` of the hub, or free space."
    case .unsupportedFormat:
      "The other side has another version of the format. Update the app."
    case .damaged:
      "The message is damaged. Send the bytes of the request and of the answer "
        + "unchanged."
    case .busy(let seconds):
      "The peer is busy. Try again in \(seconds) seconds."
    }
  }
}

extension SyncRefusal {
  /// Creates the refusal that a peer sends after an error.
  init(_ error: any Error) {
    switch error {
    case let refusal as SyncRefusal: self = refusal
    case let error as StoreError: self.init(error)
    case let error as WireError: self.init(error)
    case is CancellationError: self = .busy(seconds: 5)
    default: self = .busy(seconds: 60)
    }
  }

  private init(_ error: StoreError) {
    switch error {
    case .tooManyRecords, .recordTooLarge: self = .tooLarge
    case .tooManyDevices: self = .full
    case .scopeErased: self = .gone
    case .scopeBelongsToDevice: self = .wrongScope
    case .busy, .unavailable, .canceled, .disconnected, .closed, .suspended,
      .superseded:
      self = .busy(seconds: 5)
    default: self = .busy(seconds: 60)
    }
  }

  private init(_ error: WireError) {
    switch error.code {
    case .newerVersion, .olderVersion: self = .unsupportedFormat
    default: self = .damaged
    }
  }

  /// Whether the answer to a refused part has a version and a part as any other.
  var isOfPart: Bool {
    switch self {
    case .denied, .tooLarge, .full: true
    default: false
    }
  }
}

// Encoding.
extension SyncRefusal {
  /// The number in a message, and the seconds to wait.
  package var code: (number: UInt64, seconds: UInt64) {
    switch self {
    case .denied: (1, 0)
    case .gone: (2, 0)
    case .wrongScope: (3, 0)
    case .tooLarge: (4, 0)
    case .full: (5, 0)
    case .unsupportedFormat: (6, 0)
    case .damaged: (7, 0)
    case .busy(let seconds): (8, UInt64(max(seconds, 0)))
    }
  }

  /// Creates the refusal with a number, or returns `nil` if a refusal other than
  /// ``busy(seconds:)`` has seconds.
  ///
  /// A later version of the library can send other numbers.
  init?(number: UInt64, seconds: UInt64) {
    let known: [SyncRefusal] = [
      .denied, .gone, .wrongScope, .tooLarge, .full, .unsupportedFormat,
      .damaged,
    ]
    if number <= UInt64(known.count) {
      guard number > 0, seconds == 0 else { return nil }
      self = known[Int(number) - 1]
    } else {
      self = .busy(seconds: Int(clamping: seconds))
    }
  }
}
