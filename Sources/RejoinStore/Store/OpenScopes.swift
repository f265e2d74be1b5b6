// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The scopes that this process has open for writing.
///
/// If a store supersedes another store of the same process, the observers of
/// that store end immediately. A store in another process detects it during its
/// next change.
final class OpenScopes: Sendable {
  static let shared = OpenScopes()

  /// A scope of a file, independent of the path to the file.
  struct Key: Hashable {
    let file: DurableFile.Identity
    let scope: [UInt8]
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
  ///   scope at the same time, the greater number wins. Numbers of a scope and
  ///   of one that was created after its deletion are not in order.
  func open(_ key: Key, by observers: ChangeObservers, as writer: Int64) {
    let superseded = holders.withLock { holders -> ChangeObservers? in
      holders = holders.filter { $0.value.observers != nil }
      let former = holders[key]
      if let former, former.writer > writer,
        ScopeRow.isSameScope(former.writer, writer)
      {
        return observers
      }
      holders[key] = Holder(observers: observers, writer: writer)
      return former?.observers
    }
    superseded?.end(.superseded)
  }
}
