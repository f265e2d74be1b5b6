// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && compiler(>=6.2)
  import Foundation
  import Glibc
  import Testing

  /// Measures the memory of the current process, which must not do other work.
  enum PeakMemory {
    private static func memory(_ key: String) throws -> Int {
      let status = try String(
        contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix(key) }
      return try #require(Int((line ?? "").filter(\.isNumber))) * 1_024
    }

    /// Returns the additional memory that is in use at the peak of `body`.
    static func of(_ body: () throws -> Void) throws -> Int {
      try trim()
      // Reset the peak to the current amount.
      try "5".write(
        toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
      let before = try memory("VmRSS:")
      try body()
      return try memory("VmHWM:") - before
    }

    /// Makes the allocator take large blocks from the system and return them.
    ///
    /// Otherwise, reused blocks would not be counted.
    static func returnMemory() throws {
      typealias Option = @convention(c) (CInt, CInt) -> CInt
      let symbol = try #require(dlsym(nil, "mallopt"))
      let mmapThreshold: CInt = -3
      let mallopt = unsafeBitCast(symbol, to: Option.self)
      #expect(mallopt(mmapThreshold, 4_096) == 1)
    }

    /// Returns free pages of small blocks to the system.
    private static func trim() throws {
      typealias Trim = @convention(c) (Int) -> CInt
      let symbol = try #require(dlsym(nil, "malloc_trim"))
      _ = unsafeBitCast(symbol, to: Trim.self)(0)
    }
  }
#endif
