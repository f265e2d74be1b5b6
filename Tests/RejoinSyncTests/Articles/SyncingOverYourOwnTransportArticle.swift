// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinSync
import RejoinTesting

import Testing

actor Link {
  struct Disconnected: Error {}

  private let (store, scope): (ReplicaStore, String)
  private let send: @Sendable ([UInt8]) throws -> Void
  private var waiting: CheckedContinuation<[UInt8], any Error>?

  init(
    _ store: ReplicaStore, scope: String,
    send: @escaping @Sendable ([UInt8]) throws -> Void
  ) {
    (self.store, self.scope, self.send) = (store, scope, send)
  }

  func ask(_ request: [UInt8]) async throws -> [UInt8] {
    disconnect()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiting = continuation
        do { try send(request) } catch { end(.failure(error)) }
      }
    } onCancel: {
      Task { await disconnect() }
    }
  }

  func receive(_ message: [UInt8]) async throws {
    let kind = (try? SyncMessage(decoding: message))?.kind
    if kind == .answer || kind == nil && waiting != nil {
      end(.success(message))
    } else {
      try send(await store.answer(message, scope: scope))
    }
  }

  func disconnect() { end(.failure(Disconnected())) }

  private func end(_ result: Result<[UInt8], any Error>) {
    waiting?.resume(with: result)
    waiting = nil
  }
}

#if canImport(MultipeerConnectivity)
  import MultipeerConnectivity
#else
  /// The part of MultipeerConnectivity that the article uses.
  ///
  /// `@preconcurrency` lets its types pass as sendable.
  class NSObject {}
  struct MCPeerID: Hashable { var name = "" }
  enum MCSessionState { case notConnected, connecting, connected }
  protocol MCSessionDelegate: AnyObject {
    func session(
      _ session: MCSession, didReceive data: Data, fromPeer peer: MCPeerID)
    func session(
      _ session: MCSession, peer: MCPeerID, didChange state: MCSessionState)
  }
  /// A session that two devices share.
  final class MCSession: Sendable {
    enum Mode { case reliable }
    let sent: @Sendable (Data) throws -> Void
    private let held = Locked<(any MCSessionDelegate)?>(nil)
    var delegate: (any MCSessionDelegate)? {
      get { held.withLock { $0 } }
      set { held.withLock { $0 = newValue } }
    }
    init(_ sent: @escaping @Sendable (Data) throws -> Void) { self.sent = sent }
    func send(_ data: Data, toPeers peers: [MCPeerID], with mode: Mode) throws {
      try sent(data)
    }
  }

  final class Nearby: NSObject, MCSessionDelegate {
    let link: Link
    private let peer: MCPeerID

    init(_ store: ReplicaStore, over session: MCSession, to peer: MCPeerID) {
      self.peer = peer
      link = Link(store, scope: "list-17") { bytes in
        try session.send(Data(bytes), toPeers: [peer], with: .reliable)
      }
    }

    func session(
      _ session: MCSession, didReceive data: Data, fromPeer sender: MCPeerID
    ) {
      if sender != peer { return }
      Task { [link] in try await link.receive(Array(data)) }
    }

    func session(
      _ session: MCSession, peer other: MCPeerID,
      didChange state: MCSessionState
    ) {
      if other != peer || state != .notConnected { return }
      Task { [link] in await link.disconnect() }
    }
  }
#endif

@Suite class SyncingOverYourOwnTransportArticle: SyncSuite {
  private struct Lost: Error {}

  /// A line that loses one message of five, and repeats one of five.
  private final class BadLine: Sendable {
    private let ends = Locked<[Link]>([])
    private let random = Locked(SeededRandom(seed: 7))
    private let losses: Int

    init(losses: Int) { self.losses = losses }

    func connect(_ ends: Link...) { self.ends.withLock { $0 = ends } }

    func send(_ bytes: [UInt8], to end: Int) throws {
      let (isLost, isRepeated) = random.withLock {
        ($0.chance(percent: losses), $0.chance(percent: losses))
      }
      if isLost { throw Lost() }
      let link = ends.withLock { $0[end] }
      for _ in 0..<(isRepeated ? 2 : 1) {
        Task { try? await link.receive(bytes) }
      }
    }
  }

  @Test func lines() async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await phone.write("Milk")
    let link = Asking { await tablet.answer($0, scope: "list-17") }
    let result = try await phone.sync(scope: "list-17") {
      try await link.ask($0)
    }
    #expect(result.isSynced)
    let request = try #require(await link.last)
    let answer = await tablet.answer(request, scope: "list-17")
    #expect(try SyncMessage(decoding: answer).kind == .answer)
  }

  private actor Asking {
    private let answer: @Sendable ([UInt8]) async throws -> [UInt8]
    private(set) var last: [UInt8]?

    init(_ answer: @escaping @Sendable ([UInt8]) async throws -> [UInt8]) {
      self.answer = answer
    }

    func ask(_ request: [UInt8]) async throws -> [UInt8] {
      last = request
      return try await answer(request)
    }
  }

  /// Both devices ask at the same time, until a call of each ends synced.
  @Test func bothDevicesAskOverBadLine() async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await phone.fill(50, titles: String(repeating: "x", count: 2_000))
    try await tablet.fill(30, titles: String(repeating: "y", count: 2_000))
    let line = BadLine(losses: 20)
    let one = Link(phone, scope: "list-17") { try line.send($0, to: 1) }
    let other = Link(tablet, scope: "list-17") { try line.send($0, to: 0) }
    line.connect(one, other)
    await withTaskGroup(of: Int.self) { group in
      for (store, link) in [(phone, one), (tablet, other)] {
        group.addTask {
          var attempts = 0
          while attempts < 200 {
            attempts += 1
            // The line does not report a lost answer. On a busy machine, an
            // exchange takes longer.
            let wait = Duration.milliseconds(100 + 50 * attempts)
            let watch = Task {
              while true {
                try await Task.sleep(for: wait)
                await link.disconnect()
              }
            }
            let result = try? await store.sync(
              scope: "list-17", bytesPerPart: 20_000
            ) { try await link.ask($0) }
            watch.cancel()
            if result?.isSynced == true { break }
          }
          return attempts
        }
      }
      for await attempts in group { #expect(attempts < 200) }
    }
    let both = await (phone.version, tablet.version)
    #expect(both.0.covers(both.1))
    #expect(both.1.covers(both.0))
  }

  #if !canImport(MultipeerConnectivity)
    @Test func nearbyDevicesSync() async throws {
      let (phone, tablet) = (try await store(), try await store())
      try await phone.write("Milk")
      let (own, peer) = (MCPeerID(name: "phone"), MCPeerID(name: "tablet"))
      let ends = Locked<[MCSession]>([])
      let session = MCSession { data in
        let end = ends.withLock { $0[1] }
        end.delegate?.session(end, didReceive: data, fromPeer: own)
      }
      let other = MCSession { data in
        let end = ends.withLock { $0[0] }
        end.delegate?.session(end, didReceive: data, fromPeer: peer)
      }
      ends.withLock { $0 = [session, other] }
      other.delegate = Nearby(tablet, over: other, to: own)

      let nearby = Nearby(phone, over: session, to: peer)
      session.delegate = nearby
      let result = try await phone.sync(scope: "list-17") {
        [link = nearby.link] in
        try await link.ask($0)
      }
      #expect(result.isSynced)
      #expect(await tablet.titles == ["Milk"])

      // A device that left ends the call, and another one does not.
      let silent = MCSession { _ in }
      let lone = Nearby(phone, over: silent, to: peer)
      let isOver = Locked(false)
      let call = Task { [link = lone.link] in
        defer { isOver.withLock { $0 = true } }
        await #expect(throws: Link.Disconnected.self) {
          try await phone.sync(scope: "list-17") { try await link.ask($0) }
        }
      }
      lone.session(silent, peer: own, didChange: .notConnected)
      while !isOver.withLock({ $0 }) {
        lone.session(silent, peer: peer, didChange: .notConnected)
        try await Task.sleep(for: .milliseconds(5))
      }
      await call.value
    }

    /// A message that cannot be decoded ends a call, or gets a refusal.
    @Test func damagedMessagesEndCalls() async throws {
      let (phone, tablet) = (try await store(), try await store())
      try await phone.write("Milk")
      let sent = Locked<[[UInt8]]>([])
      let link = Link(phone, scope: "list-17") { bytes in
        sent.withLock { $0.append(bytes) }
      }
      for damaged in [[], [1, 2, 3]] as [[UInt8]] {
        sent.withLock { $0 = [] }
        let call = Task {
          try await phone.sync(scope: "list-17") { try await link.ask($0) }
        }
        while sent.withLock({ $0.isEmpty }) { await Task.yield() }
        try await link.receive(damaged)
        await #expect(throws: WireError.self) { try await call.value }
        // Nothing waits, so the bytes count as a request.
        try await link.receive(damaged)
        let answer = try #require(sent.withLock { $0.last })
        #expect(try SyncMessage(decoding: answer).refusal == .damaged)
        // An answer that nothing waits for gets none.
        let count = sent.withLock { $0.count }
        try await link.receive(answer)
        #expect(sent.withLock { $0.count } == count)
      }
      #expect(await tablet.titles.isEmpty)
    }
  #endif
}
