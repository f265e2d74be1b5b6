// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct OwnDigestTests {
  @Test func ownDigestsReturnDigestByNumber() {
    var own = OwnDigests()
    for digest in 11...15 as ClosedRange<UInt64> { own.append(digest) }
    #expect((1...5).map { own[$0] } == [11, 12, 13, 14, 15])
    #expect(own[0] == nil && own[6] == nil && own[.max] == nil)
    own.forget(through: 3)
    #expect((1...5).map { own[$0] } == [nil, nil, nil, 14, 15])
    own.forget(through: 2)
    #expect(own.floor == 3)
    own.append(16)
    #expect(own[6] == 16)
  }

  @Test func forgetKeepsLastDigest() {
    var own = OwnDigests()
    own.append(11)
    own.append(12)
    own.forget(through: .max)
    #expect(own[2] == 12 && own[1] == nil)
  }

  @Test func appendKeepsAtMostLimit() {
    var own = OwnDigests()
    for n in 1...20_000 as ClosedRange<UInt64> {
      own.append(n)
      #expect(UInt64(own.digests.count) <= OwnDigests.limit)
      #expect(own[n] == n)
      #expect(own[max(n, 2_048) - 2_047] == max(n, 2_048) - 2_047 || n < 2_048)
    }
  }

  @Test func saveForgetsDigestsOfStableSaves() throws {
    let (a, b) = (Replica.empty(1), Replica.empty(2))
    for _ in 0..<50 { try a.edit { $0.miles.increment() } }
    try b.edit { $0.miles.increment() }
    #expect(a.state.ownDigests.digests.count == 50)
    for _ in 0..<3 {
      a.merge(b)
      b.merge(a)
    }
    #expect(a.stabilityCut[a.device] == 50)
    try a.edit { $0.miles.increment() }
    #expect(a.state.ownDigests.digests.count == 51, "no token is stored")
    a.confirmTokenStored(a.restoreToken)
    try a.edit { $0.miles.increment() }
    #expect(a.state.ownDigests.digests.count == 2)
    a.confirmTokenStored(a.restoreToken)
    a.merge(b)
    b.merge(a)
    a.merge(b)
    try a.edit { $0.miles.increment() }
    #expect(a.state.ownDigests.digests.count == 1)
  }
}
