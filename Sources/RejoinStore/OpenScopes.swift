// SPDX-License-Identifier: Apache-2.0

import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The scopes that this process has open for writing.
///
/// If a store is superseded by a store of the same process, its observers end
/// immediately. A store in another process notices at its next change.
final class OpenScopes: Sendable {
  static let shared = OpenScopes()

  /// A scope of a file, independent of the path that leads to the file.
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
  }

  private let holders = Mutex<[Key: Holder]>([:])

  /// Records the observers of a scope's new writer, and ends the observers of
  /// the previous writer.
  func open(_ key: Key, by observers: ChangeObservers) {
    let former = holders.withLock { holders in
      holders = holders.filter { $0.value.observers != nil }
      let former = holders[key]?.observers
      holders[key] = Holder(observers: observers)
      return former
    }
    former?.end(.superseded)
  }
}
