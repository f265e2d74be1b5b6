// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinSQL
import RejoinSync
import _RejoinVerification

/// Offers damaged requests to a store and to a hub, and damaged answers to a call.
///
/// Each peer must answer with a message, and a refused request must change nothing.
struct ExchangeBody {
  static let scope = "s"
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func check() throws(FuzzFailure) {
    try checkAlone(resealing: bytes) { try await Peers.shared.check($0) }
  }
}

/// A store and a hub, which are created again after a change.
private actor Peers {
  static let shared = Peers()

  private var store: ReplicaStore?
  private var hub: (session: HubSession, version: ReplicaVersion)?

  private func openStore() async throws -> ReplicaStore {
    if let store { return store }
    let new = try await ReplicaStore.inMemory(
      schema: ScriptUniverse.standard.schema)
    let content = LiveHistory.open(LiveHistory.shared.states[0]).delta()
    if let content { try await new.apply(content) }
    store = new
    return new
  }

  private func openHub() async throws -> (HubSession, ReplicaVersion) {
    if let hub { return hub }
    let session = try await Hub(connections: 1) {
      try SQLiteConnection(opening: ":memory:")
    }.makeSession { _ in }
    let content = LiveHistory.open(LiveHistory.shared.states[1]).delta()
    if let content { try await session.apply(content, in: ExchangeBody.scope) }
    let version = try await session.version(of: ExchangeBody.scope)
    hub = (session, version)
    return (session, version)
  }

  func check(_ bytes: [UInt8]) async throws {
    let store = try await openStore()
    let before = await store.version
    try check(
      await store.answer(bytes, scope: ExchangeBody.scope), to: bytes,
      isChanged: await store.version != before)
    if await store.version != before { self.store = nil }
    let (session, version) = try await openHub()
    let answer = await session.answer(bytes)
    let now = try await session.version(of: ExchangeBody.scope)
    try check(answer, to: bytes, isChanged: now != version)
    if now != version { hub = nil }
    try await checkCall(bytes)
  }

  private func check(
    _ answer: [UInt8], to request: [UInt8], isChanged: Bool
  ) throws {
    let message = try SyncMessage(decoding: answer)
    try require(message.kind == .answer, "the answer is a \(message.kind)")
    if message.version == nil {
      try require(!isChanged, "a refused request changes a peer")
    }
    guard let read = try? SyncMessage(decoding: request), read.kind == .request
    else {
      let refusals: [SyncRefusal?] = [.damaged, .unsupportedFormat]
      return try require(
        refusals.contains(message.refusal) && message.scope.isEmpty,
        "a request that cannot be read is answered by \(message)")
    }
    try require(
      message.scope.utf8.elementsEqual(read.scope.utf8), "another scope")
  }

  /// A peer that always gives the same answer does not keep a call running.
  private func checkCall(_ answer: [UInt8]) async throws {
    let store = try await openStore()
    let before = await store.version
    let count = Count()
    do {
      let result = try await store.sync(scope: ExchangeBody.scope) { _ in
        try require(await count.next() < 30, "a call does not end")
        return answer
      }
      try require(
        !result.isSynced || result.isUploaded, "synced and not uploaded")
    } catch let error as FuzzFailure { throw error } catch {
      try require(
        error is WireError || error is SyncRefusal || error is StoreError,
        "a call throws \(error)")
    }
    if await store.version != before { self.store = nil }
  }

  private actor Count {
    private var value = 0
    func next() -> Int {
      value += 1
      return value
    }
  }
}

extension ExchangeBody {
  /// The requests and answers of calls between stores, and with a hub.
  static var seeds: [[UInt8]] {
    waiting {
      do { return try await messages() } catch { return [] }
    }
  }

  private static func messages() async throws -> [[UInt8]] {
    let log = Log()
    let schema = ScriptUniverse.standard.schema
    for (state, limit) in zip(LiveHistory.shared.states, [60, 500, 100_000]) {
      let (full, empty) = (
        try await ReplicaStore.inMemory(schema: schema),
        try await ReplicaStore.inMemory(schema: schema)
      )
      if let content = LiveHistory.open(state).delta() {
        try await full.apply(content)
      }
      for (asker, peer) in [(full, empty), (empty, full)] {
        try await asker.sync(scope: scope, bytesPerPart: limit) { request in
          let answer = await peer.answer(request, scope: scope)
          await log.add(request, answer)
          return answer
        }
        let other = await peer.answer(
          await log.messages.last ?? [], scope: "other")
        await log.add(other)
      }
    }
    return await log.messages
  }

  private actor Log {
    private(set) var messages: [[UInt8]] = []
    func add(_ more: [UInt8]...) { messages += more }
  }
}

private let checking = NSLock()

/// Checks bytes as they are and with correct checksums, and no others meanwhile.
///
/// An actor could start another check while one waits.
func checkAlone(
  resealing bytes: [UInt8],
  _ check: @escaping @Sendable ([UInt8]) async throws -> Void
) throws(FuzzFailure) {
  let failure = checking.withLock {
    waiting { () -> FuzzFailure? in
      do {
        for bytes in [bytes, bytes.resealed, bytes.resealedWithParts] {
          try await check(bytes)
        }
        return nil
      } catch { return error as? FuzzFailure ?? FuzzFailure("\(error)") }
    }
  }
  if let failure { throw failure }
}

/// Runs an asynchronous closure, and waits for it.
func waiting<Value: Sendable>(
  _ body: @escaping @Sendable () async -> Value
) -> Value {
  nonisolated(unsafe) var result: Value?
  let done = DispatchSemaphore(value: 0)
  Task {
    result = await body()
    done.signal()
  }
  done.wait()
  guard let result else { fatalError("the closure returned nothing") }
  return result
}

extension Array where Element == UInt8 {
  /// A message of an exchange, whose version and part also have their correct
  /// checksums.
  var resealedWithParts: [UInt8] {
    var (bytes, offset) = (self, 3)
    func varint() -> Int? {
      var (number, shift) = (0, 0)
      while offset < count, shift < 28 {
        let byte = self[offset]
        offset += 1
        number |= Int(byte & 0x7f) << shift
        if byte < 0x80 { return number }
        shift += 7
      }
      return nil
    }
    for _ in 0..<2 { offset += varint() ?? 0 }
    for _ in 0..<3 { _ = varint() }
    for _ in 0..<2 {
      guard let length = varint(), length <= count - offset else { break }
      let range = offset..<(offset + length)
      bytes.replaceSubrange(range, with: Array(self[range]).resealed)
      offset += length
    }
    return bytes.resealed
  }
}
