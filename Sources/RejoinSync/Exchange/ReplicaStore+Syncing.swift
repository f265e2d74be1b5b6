// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

// The side that asks. The article *How an exchange works* lists the rules.
extension ReplicaStore {
  /// Exchanges saves with a peer until neither side has any for the other.
  ///
  ///     let result = try await phone.sync(scope: "list-17") { request in
  ///       try await connection.ask(request)
  ///     }
  ///     result.isSynced  // true
  ///
  /// On the other side, `answer` of a store or of a `HubSession` creates the
  /// answer. Between two devices, let the one with new saves ask.
  ///
  /// Each request has the whole version of the store, and at most one part. So a
  /// call keeps no state that another one needs, and requests and answers may be
  /// lost, repeated or late. After an error, the store has everything that it
  /// received before.
  ///
  /// If ``SyncResult/isSynced`` is `false`, the peer refused saves, an old answer
  /// arrived again, or a store saved in the meantime. Call again later.
  ///
  /// - Parameters:
  ///   - scope: The name of the scope, as the peer knows it.
  ///   - byteCount: The maximum number of bytes in a part. Only a single record
  ///     can exceed it. The default is 262,144.
  ///   - hint: The version that the peer showed last, which saves an exchange if
  ///     it is right and changes nothing if it is wrong.
  ///   - ask: A closure that carries a request to the peer and returns the answer.
  /// - Returns: What the peer showed last, and whether the saves are uploaded.
  /// - Throws: ``SyncRefusal`` if the peer refuses the whole request, `WireError`
  ///   if its answer is damaged, `StoreError`, or the error of `ask`.
  /// - Precondition: `byteCount` is positive, and `scope` has at most 1,024 bytes.
  @discardableResult
  public func sync(
    scope: String, bytesPerPart byteCount: Int = 256 << 10,
    assuming hint: ReplicaVersion? = nil,
    asking ask: @Sendable ([UInt8]) async throws -> [UInt8]
  ) async throws -> SyncResult {
    demand(byteCount > 0, "`bytesPerPart` must be 1 or more, not \(byteCount)")
    demand(
      scope.utf8.count <= SyncMessage.scopeLimit,
      "`scope` must have at most 1,024 bytes, not \(scope.utf8.count)")
    let call = SyncCall(scope: scope, bytesPerPart: byteCount, assuming: hint)
    return try await sync(call, asking: ask) { _ in }
  }

  /// Performs a call.
  ///
  /// - Parameter report: A closure that receives each step, because a call that
  ///   throws an error returns nothing.
  package func sync(
    _ call: SyncCall,
    asking ask: @Sendable ([UInt8]) async throws -> [UInt8],
    reporting report: @Sendable (SyncStep) -> Void
  ) async throws -> SyncResult {
    var call = call
    while true {
      try Task.checkCancellation()
      let (started, next) = try export { [call] replica in
        var call = call
        let request = call.request(of: replica)
        return (call, request)
      }
      call = started
      guard let request = next else { return call.result }
      let message = request.encoded()
      report(.sending(request.part, byteCount: message.count))
      let bytes = try await ask(message)
      let (shown, answer) = try call.read(bytes, to: request)
      report(.shown(shown, answer.refusal))
      report(.receiving(answer.part, byteCount: bytes.count))
      let taken = try take(answer.part, with: shown, of: answer.device)
      call.advance(taken, to: version)
    }
  }

  /// Applies a part, and then records the version that its sender showed.
  ///
  /// - Throws: `StoreError`, also if the part is larger than a hub accepts.
  func take(
    _ part: Delta?, with shown: ReplicaVersion, of device: DeviceID?
  ) throws -> MergeReport {
    try withReplica { try $0.take(part, with: shown, of: device) }
  }
}

/// A step of a call, or of a pass over objects.
package enum SyncStep: Sendable {
  /// A message leaves, perhaps with a part.
  case sending(Delta?, byteCount: Int)
  /// The peer showed a version, or the objects did, and perhaps refused saves.
  case shown(ReplicaVersion, SyncRefusal?)
  /// A message arrived, perhaps with a part, which is not applied yet.
  case receiving(Delta?, byteCount: Int)
}

extension Replica {
  /// Applies a part, and then records the version that its sender showed.
  ///
  /// A hub limits the devices of a scope by itself.
  ///
  /// - Parameter device: The device of the peer, or `nil` for a hub.
  /// - Throws: `StoreError` if the part has more records than a hub accepts by
  ///   default, or after applying it if another device adds more devices.
  package func take(
    _ part: Delta?, with shown: ReplicaVersion, of device: DeviceID?
  ) throws(StoreError) -> MergeReport {
    var limits = Hub.Limits()
    if device == nil { limits.devicesPerScope = .max }
    let limit = limits.devicesPerScope
    var report = MergeReport()
    if let part {
      try limits.check(part)
      let before = state.deviceCount
      report = apply(part, reporting: .faults)
      let count = state.deviceCount
      if count > limit, count > before {
        throw .tooManyDevices(limit: limit)
      }
    }
    report.add(recordVersion(shown, of: device))
    return report
  }
}
