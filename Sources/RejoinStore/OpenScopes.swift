// SPDX-License-Identifier: Apache-2.0

import Rejoin

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The scopes that this process has open for writing.
///
/// If a store supersedes another store of the same process, the observers of
/// that store end immediately. A store in another process detects it during its
/// next change.
final class OpenScopes: Sendable {
  static let shared = OpenScopes()

  /// A scope of a file, independent of the path to the file.
  struct Key: Hashable {
    private let device: UInt64
    private let file: UInt64
    private let scope: [UInt8]

    /// - Returns: The key, or `nil` if the database has no file.
    init?(_ scope: String, in path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      device = UInt64(truncatingIfNeeded: status.st_dev)
      file = UInt64(truncatingIfNeeded: status.st_ino)
      self.scope = Array(scope.utf8)
    }
  }

  private struct Holder {
    weak var observers: ChangeObservers?
    let writer: Int64
  }

  private let holders = Locked<[Key: Holder]>([:])

  /// Records the observers of a scope's new writer, and ends the observers of
  /// the previous writer.
  ///
  /// - Parameter writer: The number of the new writer. If two stores open a
  ///   scope at the same time, the greater number wins.
  func open(_ key: Key, by observers: ChangeObservers, as writer: Int64) {
    let superseded = holders.withLock { holders -> ChangeObservers? in
      holders = holders.filter { $0.value.observers != nil }
      let former = holders[key]
      if let former, former.writer > writer { return observers }
      holders[key] = Holder(observers: observers, writer: writer)
      return former?.observers
    }
    superseded?.end(.superseded)
  }
}
