// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && compiler(>=6.2)
  import Foundation
  import Glibc
  import Testing

  /// The memory of a process that does nothing else.
  enum PeakMemory {
    private static func memory(_ key: String) throws -> Int {
      let status = try String(
        contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix(key) }
      return try #require(Int((line ?? "").filter(\.isNumber))) * 1_024
    }

    /// Returns how much more memory than before is in use at most while `body`
    /// runs.
    static func of(_ body: () throws -> Void) throws -> Int {
      try trim()
      // The greatest amount so far becomes what there is now.
      try "5".write(
        toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
      let before = try memory("VmRSS:")
      try body()
      return try memory("VmHWM:") - before
    }

    /// Makes the allocator take large blocks from the system and return them.
    ///
    /// A free block that is used again would not be counted.
    static func returnMemory() throws {
      typealias Option = @convention(c) (CInt, CInt) -> CInt
      let symbol = try #require(dlsym(nil, "mallopt"))
      let mmapThreshold: CInt = -3
      let mallopt = unsafeBitCast(symbol, to: Option.self)
      #expect(mallopt(mmapThreshold, 4_096) == 1)
    }

    /// Returns the pages of small blocks that are free.
    private static func trim() throws {
      typealias Trim = @convention(c) (Int) -> CInt
      let symbol = try #require(dlsym(nil, "malloc_trim"))
      _ = unsafeBitCast(symbol, to: Trim.self)(0)
    }
  }
#endif
