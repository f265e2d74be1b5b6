// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  import os
#else
  import Synchronization
#endif

/// A value that one thread at a time can use.
///
/// `Mutex` requires iOS 18 and macOS 15. On earlier systems, an unfair lock of
/// the system does the same.
package final class Locked<Value>: @unchecked Sendable {
  #if canImport(Darwin)
    private let lock = OSAllocatedUnfairLock()
  #else
    private let lock = Mutex<Void>(())
  #endif
  private var value: Value

  package init(_ value: sending Value) { self.value = value }

  /// Returns what a closure returns that has exclusive access to the value.
  package func withLock<Result>(
    _ body: (inout Value) throws -> Result
  ) rethrows -> Result {
    #if canImport(Darwin)
      try lock.withLockUnchecked { try body(&value) }
    #else
      try lock.withLock { _ in try body(&value) }
    #endif
  }
}
