// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

// The side that answers for a store.
extension ReplicaStore {
  /// Answers a request of another device.
  ///
  ///     let answer = await tablet.answer(request, scope: "list-17")
  ///
  /// The store applies the part of the request, and then returns its version and a
  /// part that the other device lacks. It keeps nothing about the request.
  ///
  /// Answer only devices of members who may write the scope. A store cannot check
  /// for which devices a member writes.
  ///
  /// - Parameters:
  ///   - request: The bytes that
  ///     ``sync(scope:bytesPerPart:assuming:asking:)`` passed to its closure.
  ///   - scope: The name of the scope for which this store answers.
  /// - Returns: The answer, which is a ``SyncRefusal`` if the request cannot be
  ///   answered.
  public func answer(_ request: [UInt8], scope: String) -> [UInt8] {
    var name = ""
    do {
      let (request, shown) = try SyncMessage.request(in: request)
      name = request.scope
      guard name.utf8.elementsEqual(scope.utf8) else {
        throw SyncRefusal.wrongScope
      }
      return try answer(request, shown).encoded()
    } catch { return SyncMessage.refusal(of: error, in: name) }
  }

  private func answer(
    _ request: SyncMessage, _ shown: ReplicaVersion
  ) throws -> SyncMessage {
    var refused: SyncRefusal?
    do { _ = try take(request.part, with: shown, of: request.device) } catch {
      let refusal = SyncRefusal(error)
      if !refusal.isOfPart { throw refusal }
      refused = refusal
      _ = try take(nil, with: shown, of: request.device)
    }
    return try export { [refused] replica in
      try SyncMessage(
        answering: request, of: replica.device, showing: replica.version,
        with: replica.delta(since: shown, byteLimit: request.partLimit),
        refused)
    }
  }
}

extension SyncMessage {
  /// Decodes a request and its version.
  package static func request(
    in bytes: [UInt8]
  ) throws -> (SyncMessage, ReplicaVersion) {
    let request = try SyncMessage(decoding: bytes)
    guard request.kind == .request, let version = request.version else {
      throw SyncRefusal.damaged
    }
    return (request, version)
  }

  /// The maximum number of bytes of the part in the answer to this request.
  package var partLimit: Int { min(byteLimit, SyncMessage.partLimit) }

  /// Creates the answer to a request whose part was applied or refused.
  ///
  /// - Parameters:
  ///   - device: The device that answers, or `nil` for a hub.
  ///   - refusal: The reason why the part was refused, or `nil`.
  /// - Throws: ``SyncRefusal/tooLarge`` if the peer would not read the answer.
  package init(
    answering request: SyncMessage, of device: DeviceID?,
    showing version: ReplicaVersion, with part: Delta?, _ refusal: SyncRefusal?
  ) throws(SyncRefusal) {
    self.init(.answer, scope: request.scope)
    (self.device, self.version, self.part) = (device, version, part)
    (self.refusal, byteLimit) = (refusal, SyncMessage.partLimit)
    if isTooLarge { throw .tooLarge }
  }

  /// Returns the answer after an error.
  static func refusal(of error: any Error, in scope: String) -> [UInt8] {
    var answer = SyncMessage(.answer, scope: scope)
    answer.refusal = SyncRefusal(error)
    return answer.encoded()
  }
}
