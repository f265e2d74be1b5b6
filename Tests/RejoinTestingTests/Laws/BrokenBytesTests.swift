// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import Testing

@Suite struct BrokenBytesTests {
  private func check(
    _ fault: FaultyBytes.Fault?, _ seeds: Range<UInt64>
  ) throws(LawFailure) -> LawChecks {
    try checkEncoding(
      from: FaultyBytes(fault), seeds: seeds, encode: { try $0.encoded() },
      decode: { try FaultyBytes(fault, decoding: $0) }
    ) { $0.change($1, &$2) }
  }

  @Test(
    arguments: [
      (.lossy, .roundTrip, 1), (.arrivalOrder, .equalBytes, 2),
      (.forgetsRemovals, .joinedBytes, 2), (.countsMerges, .equalBytes, 0),
      (.countsReadings, .writtenAgain, 0),
      (.trailingBytes, .canonicalBytes, 0), (.longNumbers, .canonicalBytes, 2),
      (.missingIsZero, .canonicalBytes, 0), (.anyOrder, .canonicalBytes, 2),
      (.refusesAll, .roundTrip, 0), (.throwsErrors, .roundTrip, 3),
    ] as [(FaultyBytes.Fault, LatticeLaw, Int)])
  func faultyBytesBreakLaws(
    _ fault: FaultyBytes.Fault, _ law: LatticeLaw, _ steps: Int
  ) throws {
    try expect(law, brokenIn: steps) { seeds throws(LawFailure) in
      try check(fault, seeds)
    }
  }

  /// Every process has other orders, so the number of steps differs.
  @Test func dictionaryOrderBreaksLaw() {
    let failure = failure { seeds throws(LawFailure) in
      try check(.dictionaryOrder, seeds)
    }
    let laws: [LatticeLaw?] = [.equalBytes, .writtenAgain, .joinedBytes]
    #expect(laws.contains(failure?.law))
  }

  @Test func soundBytesKeepLaws() throws {
    let checks = try check(nil, 0..<300)
    #expect(checks.scripts == 300)
    #expect(checks.cases > 300 * 100)
  }

  @Test func failureShowsBytes() {
    let failure = failure { seeds throws(LawFailure) in
      try check(.longNumbers, seeds)
    }
    #expect(
      failure?.exhibits.map { "\($0.name): \($0.text.suffix(9))" } == [
        "a: count: 0)", "bytes: 01058001",
        "damaged: 01058000", "read: count: 0)",
        "again: 010500",
      ])
    let last = failure?.description.split(separator: "\n").last
    #expect(last == "replay with checkEncoding(…, seeds: 20..<21)")
  }

  @Test func changesWithoutEffectFail() {
    let failure = failure { seeds throws(LawFailure) in
      try checkEncoding(
        from: FaultyBytes(), seeds: seeds, encode: { try $0.encoded() },
        decode: { try FaultyBytes(nil, decoding: $0) }
      ) { bytes, _, _ in bytes }
    }
    #expect(failure?.law == .effective)
  }

  @Test func samplesAreCheckedInFull() throws {
    let samples = [0, 5, 200 as UInt64].map { number in
      var bytes = FaultyBytes(.longNumbers)
      bytes.set(1, number)
      return bytes
    }
    let failure = failure { _ throws(LawFailure) in
      try checkEncoding(
        samples: samples, encode: { try $0.encoded() },
        decode: { try FaultyBytes(.longNumbers, decoding: $0) })
    }
    #expect(failure?.law == .canonicalBytes)
    #expect(failure?.seed == nil)
    #expect(failure?.exhibits[2].text == "0101c800")
    let none = try checkEncoding(
      samples: [], encode: { try $0.encoded() },
      decode: { try FaultyBytes(nil, decoding: $0) })
    #expect(none.cases == 0)
  }
}
