// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinSQL
import RejoinStore

/// The stores of a script's devices: a file for each in a folder.
final class ScriptStores {
  /// Why a store cannot be made, and what to do.
  struct Failure: Error {
    let description: String
  }

  /// Keeps the token that the script is about, and not one of its own.
  private final class MemoryTokenStorage: TokenStorage {
    private let bytes = Locked<[UInt8]?>(nil)
    func load() -> [UInt8]? { bytes.withLock { $0 } }
    func store(_ new: [UInt8]) { bytes.withLock { $0 = new } }
    func keep(_ token: RestoreToken?) {
      bytes.withLock { $0 = token?.encoded() }
    }
  }

  private struct Store {
    let scope: StoredScope
    let tokenStorage: MemoryTokenStorage
  }

  private let folder: URL
  private var stores: [String: Store] = [:]
  /// The stores of crashed processes, whose files are still open.
  private var abandoned: [Store] = []

  init(in path: String) throws(Failure) {
    folder = URL(fileURLWithPath: path, isDirectory: true)
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true)
    } catch {
      throw Failure(
        description: "\(path) cannot be created: \(Files.reason(error)); name "
          + "another folder")
    }
  }

  /// Creates a device's store with a state, which replaces an earlier one.
  ///
  /// - Returns: The replica in the store.
  func begin(
    _ name: String, with state: ReplicaState, _ token: RestoreToken?,
    schema: Schema, wallClock: WallClock, makeDeviceID: @escaping () -> DeviceID
  ) throws(Failure) -> Replica {
    let file = self.file(of: name)
    if stores.removeValue(forKey: name) != nil {
      for end in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: file.path + end)
      }
    } else if FileManager.default.fileExists(atPath: file.path) {
      throw Failure(
        description: "\(file.path) exists; choose a folder without stores")
    }
    let tokenStorage = MemoryTokenStorage()
    tokenStorage.keep(token)
    return try open(
      name, from: state, tokenStorage, schema: schema, wallClock: wallClock,
      makeDeviceID: makeDeviceID)
  }

  /// Opens a device's store again, as after a crash of its process.
  ///
  /// - Returns: The replica in the store.
  func reopen(
    _ name: String, schema: Schema, wallClock: WallClock,
    makeDeviceID: @escaping () -> DeviceID
  ) throws(Failure) -> Replica? {
    guard let store = stores[name] else { return nil }
    abandoned.append(store)
    store.tokenStorage.keep(store.scope.replica.restoreToken)
    return try open(
      name, from: nil, store.tokenStorage, schema: schema, wallClock: wallClock,
      makeDeviceID: makeDeviceID)
  }

  private func open(
    _ name: String, from state: ReplicaState?,
    _ tokenStorage: MemoryTokenStorage,
    schema: Schema, wallClock: WallClock, makeDeviceID: @escaping () -> DeviceID
  ) throws(Failure) -> Replica {
    let file = self.file(of: name)
    do {
      let connection = try SQLiteConnection(opening: file.path)
      try connection.run("PRAGMA journal_mode = WAL")
      let scope = try StoredScope(
        "main", on: connection, from: state, schema: schema,
        wallClock: wallClock, token: tokenStorage, makeDeviceID: makeDeviceID)
      stores[name] = Store(scope: scope, tokenStorage: tokenStorage)
      return scope.replica
    } catch { throw Failure(description: "\(file.path): \(error)") }
  }

  /// Writes the changes of a step.
  func write() throws(Failure) {
    for (name, store) in stores.sorted(by: { $0.key < $1.key }) {
      do { try store.scope.update { _ in } } catch {
        throw Failure(description: "\(file(of: name).path): \(error)")
      }
    }
  }

  /// The file of a device, whose name may have any characters.
  private func file(of name: String) -> URL {
    let isPlain = name.utf8.allSatisfy {
      $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0)
        || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
    }
    let plain =
      isPlain
      ? name
      : "_"
        + name.utf8.map {
          String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
        }
        .joined()
    return folder.appendingPathComponent(plain + ".sqlite")
  }
}
