// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

// The side that answers for a hub.
extension HubSession {
  /// Answers a request of a device.
  ///
  ///     let session = hub.makeSession { request in try user.check(request) }
  ///     let answer = await session.answer(body)
  ///
  /// The hub asks the check for the right to read, applies the part of the request,
  /// and returns its version and a part that the device lacks. It keeps nothing
  /// about the request, so any process of the hub can answer the next one. A server
  /// sends the answer with status 200, also if it is a refusal.
  ///
  /// - Parameter request: The bytes of the request.
  /// - Returns: The answer, which is a ``SyncRefusal`` if the request cannot be
  ///   answered.
  public func answer(_ request: [UInt8]) async -> [UInt8] {
    var scope = ""
    do {
      let (request, shown) = try SyncMessage.request(in: request)
      scope = request.scope
      return try await answer(request, shown).encoded()
    } catch { return SyncMessage.refusal(of: error, in: scope) }
  }

  private func answer(
    _ request: SyncMessage, _ shown: ReplicaVersion
  ) async throws -> SyncMessage {
    // The text of an app's error is not for clients.
    let session = replacingErrorsOfCheck {
      $0 as? SyncRefusal ?? SyncRefusal.denied
    }
    let scope = request.scope
    try session.checkReading(of: scope)
    var refused: SyncRefusal?
    if let part = request.part {
      do { try await session.apply(part, in: scope) } catch {
        let refusal = SyncRefusal(error)
        if !refusal.isOfPart { throw refusal }
        refused = refusal
      }
    }
    let state = try await session.state(
      of: scope, for: shown, of: request.device, byteLimit: request.partLimit)
    if state.learnsFromVersion, let device = request.device {
      // If it is refused, the rest of the request counts.
      _ = try? await session.recordVersion(shown, of: device, in: scope)
    }
    return try SyncMessage(
      answering: request, of: nil, showing: state.version, with: state.part,
      refused)
  }
}
