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
    var answer = SyncMessage(.answer, scope: request.scope)
    do { _ = try take(request.part, with: shown, of: request.device) } catch {
      let refusal = SyncRefusal(error)
      if !refusal.isOfPart { throw refusal }
      answer.refusal = refusal
      _ = try take(nil, with: shown, of: request.device)
    }
    let limit = min(request.byteLimit, SyncMessage.partLimit)
    (answer.device, answer.version, answer.part) = try export { replica in
      (
        replica.device, replica.version,
        replica.delta(since: shown, byteLimit: limit)
      )
    }
    answer.byteLimit = SyncMessage.partLimit
    if answer.isTooLarge { throw SyncRefusal.tooLarge }
    return answer
  }
}

extension SyncMessage {
  /// Decodes a request and its version.
  static func request(
    in bytes: [UInt8]
  ) throws -> (SyncMessage, ReplicaVersion) {
    let request = try SyncMessage(decoding: bytes)
    guard request.kind == .request, let version = request.version else {
      throw SyncRefusal.damaged
    }
    return (request, version)
  }

  /// Returns the answer after an error.
  static func refusal(of error: any Error, in scope: String) -> [UInt8] {
    var answer = SyncMessage(.answer, scope: scope)
    answer.refusal = SyncRefusal(error)
    return answer.encoded()
  }
}
