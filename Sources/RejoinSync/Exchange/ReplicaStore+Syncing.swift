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
    var peer = ShownPeer(assumed: hint)
    var report = MergeReport()
    var (lastPart, refusal) = (nil as [UInt8]?, nil as SyncRefusal?)
    var awaitsPart = true
    while true {
      try Task.checkCancellation()
      let (basis, limit) = (
        refusal == nil ? peer.basis : nil, min(byteCount, peer.byteLimit)
      )
      // Version and part are of one state, which is on disk.
      let (device, version, next) = try export { replica in
        (
          replica.device, replica.version,
          basis.flatMap { replica.delta(since: $0, byteLimit: limit) }
        )
      }
      var part = next.flatMap { peer.takes($0) ? $0 : nil }
      // A part that would be sent twice in a row has moved nothing.
      if let lastPart, part?.encoded() == lastPart { part = nil }
      if !awaitsPart, part == nil, let shown = peer.shown {
        let isUploaded = shown.covers(version)
        return SyncResult(
          peerVersion: shown, isUploaded: isUploaded,
          isSynced: isUploaded && version.covers(shown),
          uploadRefusal: refusal, report: report)
      }
      lastPart = part?.encoded() ?? lastPart
      var request = SyncMessage(.request, scope: scope)
      (request.device, request.version) = (device, version)
      (request.part, request.byteLimit) = (part, byteCount)
      if request.isTooLarge { (request.part, refusal) = (nil, .tooLarge) }
      let answer = try SyncMessage(
        answer: try await ask(request.encoded()), to: request)
      guard let shown = answer.version, answer.refusal?.isOfPart ?? true else {
        throw answer.refusal ?? .damaged
      }
      peer.show(shown, answer, after: request.part)
      refusal = refusal ?? answer.refusal
      let received = try take(answer.part, with: shown, of: answer.device)
      report.add(received)
      // Another call may receive the same saves first.
      let hasAdvanced =
        received.hasAdvanced
        || self.version.hasReceived(since: version, besides: device)
      awaitsPart =
        answer.part != nil && hasAdvanced && !self.version.covers(shown)
    }
  }

  /// Applies a part before recording the version that its sender showed.
  ///
  /// A hub limits the devices of a scope by itself.
  ///
  /// - Parameter device: The device of the peer, or `nil` for a hub.
  /// - Throws: `StoreError`, also if the part has more records than a hub accepts
  ///   by default, or if another device adds more devices.
  func take(
    _ part: Delta?, with shown: ReplicaVersion, of device: DeviceID?
  ) throws -> MergeReport {
    var limits = Hub.Limits()
    if device == nil { limits.devicesPerScope = .max }
    if let part { try limits.check(part) }
    return try withReplica { [limit = limits.devicesPerScope] replica in
      var report = MergeReport()
      if let part {
        let before = replica.state.deviceCount
        report = replica.apply(part, reporting: .faults)
        let count = replica.state.deviceCount
        if count > limit, count > before {
          throw StoreError.tooManyDevices(limit: limit)
        }
      }
      report.add(replica.recordVersion(shown, of: device))
      return report
    }
  }
}

/// The answers of a peer during a call.
private struct ShownPeer {
  /// The version that the caller assumes, or `nil`.
  let assumed: ReplicaVersion?
  /// The version that the peer showed last, or `nil` before the first answer.
  private(set) var shown: ReplicaVersion?
  /// The number of bytes of the largest part that the peer wants.
  private(set) var byteLimit = SyncMessage.partLimit
  private var isStore = false
  /// How often the version fell.
  private var falls = 0

  init(assumed: ReplicaVersion?) { self.assumed = assumed }

  /// The version to send a part for, or `nil` to send none.
  ///
  /// If the version falls twice, servers that lag answer by turns, and parts would
  /// be sent forever.
  var basis: ReplicaVersion? { falls < 2 ? shown ?? assumed : nil }

  /// Records the answer to a request with a part.
  ///
  /// A later version replaces an earlier one, even if it has fewer saves, because a
  /// database can be restored.
  mutating func show(
    _ version: ReplicaVersion, _ answer: SyncMessage, after part: Delta?
  ) {
    if let shown, !version.continues(shown, after: part) { falls += 1 }
    (shown, isStore) = (version, answer.device != nil)
    byteLimit = min(answer.byteLimit, SyncMessage.partLimit)
  }

  /// Returns whether the peer can take a part.
  ///
  /// A part without intervals has fields of incomplete saves, of which a hub keeps
  /// a limited number and can refuse some. If it shows what it showed to an earlier
  /// call, it already received the part.
  func takes(_ part: Delta) -> Bool {
    if !part.intervals.isEmpty { return true }
    guard let shown else { return false }
    return isStore
      || shown.fieldsAhead.count < Hub.Limits.fieldsAhead && shown != assumed
  }
}

extension SyncMessage {
  /// Decodes the answer to a request.
  fileprivate init(
    answer bytes: [UInt8], to request: SyncMessage
  ) throws(WireError) {
    try self.init(decoding: bytes)
    if kind != .answer {
      throw WireError(
        code: .unexpectedKind, offset: 1, expected: "an answer")
    }
    let isSame = scope.utf8.elementsEqual(request.scope.utf8)
    let isUnread =
      scope.isEmpty && version == nil
      && (refusal == .damaged || refusal == .unsupportedFormat)
    if !isSame && !isUnread {
      throw WireError(
        code: .invalid, offset: 3, expected: "the scope \"\(request.scope)\"")
    }
  }
}
