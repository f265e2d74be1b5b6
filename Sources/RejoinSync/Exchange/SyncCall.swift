// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

/// A call of `sync`, apart from its store and the line to its peer.
///
/// It knows only what the peer answered, and what it sent last. The article *How an
/// exchange works* lists the rules.
package struct SyncCall: Sendable {
  private let scope: String
  private let byteCount: Int
  /// Whether the call sends parts.
  private let uploads: Bool
  /// The version that the caller assumes, or `nil`.
  package let assumed: ReplicaVersion?
  /// The version that the peer showed last, or `nil` before the first answer.
  package private(set) var shown: ReplicaVersion?
  private var isStore = false
  /// The number of bytes of the largest part that the peer wants.
  private var byteLimit = SyncMessage.partLimit
  /// How often the version of the peer fell.
  package private(set) var falls = 0
  package private(set) var lastPart: [UInt8]?
  package private(set) var refusal: SyncRefusal?
  /// Whether the peer may have another part.
  package private(set) var awaitsPart = true
  private var report = MergeReport()
  /// The device and the version of the store at the last request.
  private var device = DeviceID(0)
  package private(set) var own = ReplicaVersion()

  package init(
    scope: String, bytesPerPart byteCount: Int, assuming hint: ReplicaVersion?,
    uploads: Bool = true
  ) {
    (self.scope, self.byteCount, assumed) = (scope, byteCount, hint)
    self.uploads = uploads
  }

  /// Returns the next request, or `nil` if nothing is left to exchange.
  ///
  /// Version and part are of one state, which must be on disk.
  package mutating func request(of replica: Replica) -> SyncMessage? {
    (device, own) = (replica.device, replica.version)
    let limit = min(byteCount, byteLimit)
    var part = basis.flatMap { replica.delta(since: $0, byteLimit: limit) }
    if let next = part, !peerTakes(next) { part = nil }
    // A part that would be sent twice in a row has moved nothing.
    if let lastPart, part?.encoded() == lastPart { part = nil }
    if part == nil, !awaitsPart { return nil }
    lastPart = part?.encoded() ?? lastPart
    var request = SyncMessage(.request, scope: scope)
    (request.device, request.version) = (device, own)
    (request.part, request.byteLimit) = (part, byteCount)
    if request.isTooLarge { (request.part, refusal) = (nil, .tooLarge) }
    return request
  }

  /// Decodes the answer to a request.
  ///
  /// - Returns: The version of the peer, and the answer with its part. Apply the part,
  ///   and then call ``advance(_:to:)``.
  /// - Throws: `SyncRefusal` if the peer refuses the whole request, or `WireError`.
  package mutating func read(
    _ bytes: [UInt8], to request: SyncMessage
  ) throws -> (ReplicaVersion, SyncMessage) {
    let answer = try SyncMessage(answer: bytes, to: request)
    guard let version = answer.version, answer.refusal?.isOfPart ?? true else {
      throw answer.refusal ?? .damaged
    }
    // A later version replaces an earlier one, even if it has fewer saves, because a
    // database can be restored.
    if let shown, !version.continues(shown, after: request.part) { falls += 1 }
    (shown, isStore) = (version, answer.device != nil)
    byteLimit = min(answer.byteLimit, SyncMessage.partLimit)
    refusal = refusal ?? answer.refusal
    awaitsPart = answer.part != nil
    return (version, answer)
  }

  /// Records the effect of an answer.
  ///
  /// - Parameters:
  ///   - received: The report about the part.
  ///   - version: The version of the store after the part.
  package mutating func advance(
    _ received: MergeReport, to version: ReplicaVersion
  ) {
    report.add(received)
    // Another call may receive the same saves first.
    let hasAdvanced =
      received.hasAdvanced || version.hasReceived(since: own, besides: device)
    let lacksSaves = shown.map { !version.covers($0) } ?? true
    awaitsPart = awaitsPart && hasAdvanced && lacksSaves
  }

  /// The result after the last request.
  package var result: SyncResult {
    let shown = shown ?? ReplicaVersion()
    let isUploaded = shown.covers(own)
    return SyncResult(
      peerVersion: shown, isUploaded: isUploaded,
      isSynced: isUploaded && own.covers(shown), uploadRefusal: refusal,
      report: report)
  }

  /// The version to send a part for, or `nil` to send none.
  ///
  /// If the version falls twice, servers that lag answer by turns, and parts would
  /// be sent forever.
  private var basis: ReplicaVersion? {
    uploads && falls < 2 && refusal == nil ? shown ?? assumed : nil
  }

  /// Returns whether the peer can take a part.
  ///
  /// A part without intervals has fields of incomplete saves, of which a hub keeps
  /// a limited number.
  private func peerTakes(_ part: Delta) -> Bool {
    if !part.intervals.isEmpty { return true }
    guard let shown else { return false }
    return isStore || shown.fieldsAhead.count < Hub.Limits.fieldsAhead
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
