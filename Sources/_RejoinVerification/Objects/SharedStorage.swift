// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSync

/// A ``FaultyStorage`` that several engines use.
package final class SharedStorage: Sendable {
  /// A device's view of the storage.
  private struct View: ObjectStorage {
    let storage: SharedStorage
    let device: Int
    let confirmsWrites: Bool

    func list() async throws -> [(name: String, byteCount: Int)] {
      try await storage.call(.list)
      return storage.state.withLock { $0.list(for: device) }
    }

    func get(_ name: String) async throws -> [UInt8]? {
      try await storage.call(.get)
      return try storage.state.withLock { try $0.get(name, for: device) }
    }

    func put(_ name: String, _ bytes: [UInt8]) async throws {
      try await storage.call(.put)
      storage.state.withLock { $0.put(name, bytes, by: device) }
      storage.stored.withLock { $0 }(bytes)
    }

    func delete(_ names: [String]) async throws {
      try await storage.call(.delete)
      storage.state.withLock { $0.delete(names, by: device) }
    }

    func identity() async throws -> String? { storage.account.withLock { $0 } }
  }

  /// A call of a device.
  package enum Call: Hashable, Sendable { case list, get, put, delete }

  package let state: Locked<FaultyStorage>
  /// The account, or `nil`.
  package let account = Locked<String?>(nil)
  /// The calls so far.
  package let calls = Locked<[Call]>([])
  /// A closure that is called before each call and can throw an error.
  package let fault = Locked<@Sendable (Call) async throws -> Void>({ _ in })
  /// A closure that is called after each put, with the bytes.
  package let stored = Locked<@Sendable ([UInt8]) -> Void>({ _ in })
  /// The errors that calls throw, or none.
  package let failures = Locked<[Call: any Error & Sendable]>([:])

  package init(isDrive: Bool) {
    state = Locked(FaultyStorage(isDrive: isDrive))
  }

  /// Returns a device's view.
  package func view(of device: Int) -> any ObjectStorage {
    state.withLock { $0.add(device) }
    return View(
      storage: self, device: device,
      confirmsWrites: state.withLock { !$0.isDrive })
  }

  private func call(_ call: Call) async throws {
    calls.withLock { $0.append(call) }
    await Task.yield()
    if let error = failures.withLock({ $0[call] }) { throw error }
    try await fault.withLock { $0 }(call)
  }
}
