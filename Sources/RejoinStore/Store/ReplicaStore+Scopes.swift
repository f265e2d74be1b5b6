// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

extension ReplicaStore {
  /// The reason why the file could not be written when it was opened, or `nil`.
  ///
  /// A file on a full or read-only disk, or without permission to write, is
  /// opened for reading:
  ///
  ///     if let error = await store.writeError {
  ///       warning = "Changes cannot be saved now. \(error)"
  ///     }
  ///
  /// Each change first tries again to write what opening could not, and throws
  /// this error until it succeeds. If another store opened the scope in the
  /// meantime, the change throws ``StoreError/superseded``. A restored backup
  /// gets its new device ID with the first change.
  public var writeError: StoreError? { scope.writeError }

  /// The devices that this installation saved under.
  ///
  /// `Replica.ownDevices` describes the set.
  public var ownDevices: Set<DeviceID> { scope.replica.ownDevices }

  /// The devices that hold back the stability cut, each with the time of its
  /// last known save.
  ///
  /// `Replica.awaitedDevices` describes them.
  public var awaitedDevices: [DeviceID: Timestamp] {
    scope.replica.awaitedDevices
  }

  /// Returns the names of the scopes in a file, in the order of their creation.
  ///
  ///     for name in try await ReplicaStore.scopes(at: "notes.sqlite") {
  ///       print(name)
  ///     }
  ///
  /// - Returns: The names, or an empty array if no file exists or it contains no
  ///   store. Scopes of a hub are not listed.
  /// - Throws: ``StoreError``
  /// - Complexity: O(*n*), where *n* is the number of scopes.
  public static func scopes(
    at path: String
  ) async throws(StoreError) -> [String] {
    do {
      return try await QueueWorker(SerialQueue("rejoin.scopes")).run {
        try DurableFile.check(path)
        if DurableFile(path: path).isEmpty { return [] }
        let connection = try StoreFile(reading: path).connection
        return try connection.reading {
          guard try Tables.exist(on: connection) else { return [] }
          return try ScopeRow.all(on: connection).filter { !$0.isOfHub }
            .map { String(decoding: $0.name, as: UTF8.self) }
        }
      }
    } catch { throw StoreError(opening: error) }
  }

  /// Deletes the scope, and closes the store.
  ///
  ///     try await store.deleteScope()
  ///     try await ReplicaStore.scopes(at: "notes.sqlite")  // []
  ///
  /// Use this method when the user signs out. It deletes the records, the undo
  /// history and the restore token of the scope, and overwrites their content in
  /// the file. If another connection reads the file during the call, the log
  /// keeps the content until a later connection empties it. The file itself
  /// stays, with other scopes and the tables of the app. Backups stay as well.
  ///
  /// Saves that no other device has are lost. Before you delete a scope, send
  /// them, and retire its device.
  ///
  /// If the process exits during the call, opening the scope can throw
  /// ``StoreError/missing(_:)``. Open it with ``StoreRecovery/asNewDevice`` to
  /// continue with an empty scope.
  ///
  /// - Throws: ``StoreError``. If an error is thrown, the store is unchanged,
  ///   with one exception. After ``StoreError/tokenNotRemoved(_:)``, the records
  ///   are deleted. Call the method again.
  /// - Complexity: O(*n*), where *n* is the size of the scope.
  public func deleteScope() throws(StoreError) { try scope.delete() }
}
