// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
  import Foundation
  import Glibc

  /// Measures the memory of the current process, which must not do other work.
  public enum PeakMemory {
    /// Returns the additional memory that is in use at the peak of `body`.
    public static func of(_ body: () throws -> Void) throws -> Int {
      let before = try current()
      // Reset the peak to the current amount.
      try "5".write(
        toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
      try body()
      return try amount("VmHWM:") - before
    }

    /// Returns the memory in use, without blocks that the allocator keeps.
    public static func current() throws -> Int {
      typealias Trim = @convention(c) (Int) -> CInt
      _ = unsafeBitCast(try function("malloc_trim"), to: Trim.self)(0)
      return try amount("VmRSS:")
    }

    /// Makes the allocator take large blocks from the system and return them.
    ///
    /// Otherwise, reused blocks would not be counted.
    public static func returnMemory() throws {
      typealias Option = @convention(c) (CInt, CInt) -> CInt
      let mmapThreshold: CInt = -3
      let mallopt = unsafeBitCast(try function("mallopt"), to: Option.self)
      if mallopt(mmapThreshold, 4_096) != 1 {
        throw CocoaError(.featureUnsupported)
      }
    }

    private static func amount(_ key: String) throws -> Int {
      let status = try String(
        contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix(key) }
      guard let kilobytes = Int((line ?? "").filter(\.isNumber)) else {
        throw CocoaError(.fileReadCorruptFile)
      }
      return kilobytes * 1_024
    }

    private static func function(
      _ name: String
    ) throws -> UnsafeMutableRawPointer {
      guard let symbol = dlsym(nil, name) else {
        throw CocoaError(.featureUnsupported)
      }
      return symbol
    }
  }
#endif
