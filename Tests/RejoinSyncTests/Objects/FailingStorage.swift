// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

struct StoredNote: Entity {
  let title = register("title", of: String.self)
}

/// A storage in memory, which lies and fails as a test demands.
final class FailingStorage: ObjectStorage {
  struct State {
    var objects: [String: [UInt8]] = [:]
    var extra: [(name: String, byteCount: Int)] = []
    var calls: [String] = []
    var account: String?
    /// How often of 100 times a call throws after it was done.
    var mayFailAfter = 0
    var yields = false
    var cutsNextGet = false
    var hook: (@Sendable (String) async -> Void)?
    var fail: @Sendable (String, String) throws -> Void = { _, _ in }
  }
  let state = NSLock()
  nonisolated(unsafe) private var raw = State()
  let confirmsWrites: Bool
  init(confirms: Bool = true) { confirmsWrites = confirms }

  func with<T>(_ body: (inout State) throws -> T) rethrows -> T {
    state.lock()
    defer { state.unlock() }
    return try body(&raw)
  }
  private func leave() async throws {
    let (rate, yields) = with { ($0.mayFailAfter, $0.yields) }
    if yields {
      try await Task.sleep(for: .microseconds(Int.random(in: 0..<1_500)))
    }
    if Int.random(in: 0..<100) < rate { throw Offline() }
  }
  private func enter(_ call: String, _ name: String = "") throws {
    try Task.checkCancellation()
    let fail = with { state in
      state.calls.append(call)
      return state.fail
    }
    try fail(call, name)
  }
  func list() async throws -> [(name: String, byteCount: Int)] {
    try enter("list")
    let list = with { $0.objects.map { ($0.key, $0.value.count) } + $0.extra }
    try await leave()
    await with { $0.hook }?("list")
    return list
  }
  func get(_ name: String) async throws -> [UInt8]? {
    try enter("get", name)
    var bytes = with { $0.objects[name] }
    try await leave()
    if with({ $0.cutsNextGet }) {
      with { $0.cutsNextGet = false }
      bytes?.removeLast(3)
    }
    await with { $0.hook }?("get")
    return bytes
  }
  func put(_ name: String, _ bytes: [UInt8]) async throws {
    try enter("put", name)
    with { $0.objects[name] = bytes }
    try await leave()
    await with { $0.hook }?("put")
  }
  func delete(_ names: [String]) async throws {
    try enter("delete")
    with { for name in names { $0.objects[name] = nil } }
    try await leave()
    await with { $0.hook }?("delete")
  }
  func identity() async throws -> String? { with { $0.account } }
  var lists: Int { with { $0.calls.filter { $0 == "list" }.count } }
  var names: [String] { with { $0.objects.keys.sorted() } }
}

final class SteppedTime: Sendable {
  private let lock = NSLock()
  nonisolated(unsafe) private var wall: Int64 = 1_700_000_000_000
  nonisolated(unsafe) private var up: Int64 = 0
  func get() -> (wall: Int64, up: Int64) {
    lock.lock()
    defer { lock.unlock() }
    return (wall, up)
  }
  func advance(_ count: Int64) {
    lock.lock()
    (wall, up) = (wall + count, up + count)
    lock.unlock()
  }
  func set(by count: Int64) {
    lock.lock()
    wall += count
    lock.unlock()
  }
  var sync: SyncTime {
    SyncTime(
      now: { self.get().wall }, uptime: { self.get().up },
      wait: { end in
        while self.get().up < end {
          try await Task.sleep(for: .milliseconds(1))
        }
      }, random: { $0 == .max ? Int64.random(in: 0 ... .max) : $0 })
  }
}

final class Box<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: Value
  init(_ value: Value) { stored = value }
  var value: Value {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }
}
extension Box<ReplicaVersion> {
  func join(_ other: ReplicaVersion) {
    lock.withLock {
      var next = stored
      other.forEachDifference(from: ReplicaVersion()) { device, save, _ in
        if save.sequence > next[device].sequence {
          next.insert(save, of: device)
        }
      }
      stored = next
    }
  }
}
