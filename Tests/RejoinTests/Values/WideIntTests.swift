// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Rejoin

// On Apple platforms, `Int128` requires the releases of 2024.
#if !canImport(Darwin)
  /// `WideInt`, compared with the standard library's `Int128`.
  @Suite struct WideIntTests {
    /// Numbers at the edges of 64 and 128 bits, and some between.
    private static let numbers: [Int128] = {
      let edges: [Int128] = [
        0, 1, 9, 10, 63, 64, 127, 128, 1 << 62, 1 << 63, 1 << 64, 1 << 66,
        1 << 126, 999_999_999_999_999_999, 1_000_000_000_000_000_000,
        Int128(Int64.max), Int128(UInt64.max), .max,
      ]
      var numbers = edges.flatMap { edge in
        [-1, 0, 1].map { edge.addingReportingOverflow($0) }
          .filter { !$0.overflow }.map(\.partialValue)
      }
      var generator = SystemRandomNumberGenerator()
      for bits in 0..<128 {
        numbers.append(
          Int128.random(in: .min ... .max, using: &generator) >> bits)
      }
      return numbers + numbers.map { 0 &- $0 } + [.min]
    }()

    private func wide(_ number: Int128) -> WideInt {
      WideInt(
        high: Int64(number >> 64), low: UInt64(truncatingIfNeeded: number))
    }

    @Test func describesAndParsesAsInt128() {
      for number in Self.numbers {
        #expect(wide(number).description == "\(number)")
        #expect(WideInt(digits: "\(number)") == wide(number))
      }
      for text in [
        "", "-", "+1", "01", "-0", "--1", "1x", " 1",
        "170141183460469231731687303715884105728",
        "-170141183460469231731687303715884105729",
        "999999999999999999999999999999999999999",
        "1000000000000000000000000000000000000000000",
      ] {
        #expect(WideInt(digits: text) == nil, "\(text)")
      }
    }

    @Test func comparesAsInt128() {
      for a in Self.numbers {
        for b in Self.numbers {
          #expect((wide(a) < wide(b)) == (a < b))
          #expect((wide(a) == wide(b)) == (a == b))
        }
      }
    }

    @Test func addsAndSubtractsAsInt128() {
      for a in Self.numbers {
        for b in Self.numbers {
          let sum = a.addingReportingOverflow(b)
          let own = wide(a).addingReportingOverflow(wide(b))
          #expect(own.overflow == sum.overflow)
          #expect(own.0 == wide(sum.partialValue))
          let difference = a.subtractingReportingOverflow(b)
          if !difference.overflow {
            #expect(wide(a) - wide(b) == wide(difference.partialValue))
          }
        }
      }
    }

    @Test func convertsAsInt128() {
      for number in Self.numbers {
        #expect(Int64(clamping: wide(number)) == Int64(clamping: number))
        #expect(UInt64(exactly: wide(number)) == UInt64(exactly: number))
      }
      for number in [Int64.min, -1, 0, 1, .max] {
        #expect(WideInt(number) == wide(Int128(number)))
      }
      #expect(WideInt(UInt64.max) == wide(Int128(UInt64.max)))
    }

    /// Reads a number as if a checksum followed.
    private func read(_ bytes: [UInt8]) throws(WireError) -> WideInt {
      let message = bytes + [UInt8](repeating: 0, count: WireChecksum.size)
      let result = message.withUnsafeBytes { buffer in
        Result { () throws(WireError) in
          var reader = WireReader(buffer, of: .delta, from: 0)
          return try reader.wide()
        }
      }
      return try result.get()
    }

    /// The bytes are the zigzag encoding of an `Int128`, in groups of 7 bits.
    @Test func encodesAsInt128() throws {
      for number in Self.numbers {
        var rest = UInt128(bitPattern: number << 1 ^ number >> 127)
        var bytes: [UInt8] = []
        while rest >= 0x80 {
          bytes.append(UInt8(rest & 0x7f) | 0x80)
          rest >>= 7
        }
        bytes.append(UInt8(rest))
        var writer = WireWriter()
        writer.wide(wide(number))
        #expect(writer.bytes == bytes)
        #expect(try read(bytes) == wide(number))
      }
    }

    @Test(arguments: [
      [UInt8](repeating: 0xff, count: 18) + [0x04],
      [UInt8](repeating: 0xff, count: 19) + [0x00], [0x80, 0x00], [0x80],
    ])
    func refusesMalformedBytes(_ bytes: [UInt8]) {
      #expect(throws: WireError.self) { try read(bytes) }
    }
  }
#endif
