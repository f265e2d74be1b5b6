// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  import os
#else
  import Synchronization
#endif

/// A value that only one thread can use at a time.
///
/// `Mutex` requires iOS 18 and macOS 15. On Apple systems, an unfair lock does
/// the same.
package final class Locked<Value>: @unchecked Sendable {
  #if canImport(Darwin)
    private let lock = OSAllocatedUnfairLock()
  #else
    private let lock = Mutex<Void>(())
  #endif
  private var value: Value

  package init(_ value: sending Value) { self.value = value }

  /// Calls a closure with exclusive access to the value, and returns its
  /// result.
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
