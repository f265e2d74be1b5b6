// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct TokenTests {
  private let a = Replica.empty(1)

  private func reopen(_ state: ReplicaState, _ token: RestoreToken?) throws
    -> Replica
  {
    Replica.opening(
      try ReplicaState(decoding: state.encoded()), token: token, as: 7)
  }

  @Test func tokenRoundTrips() throws {
    try a.edit { $0.name = "a" }
    let token = a.restoreToken
    #expect(try RestoreToken(decoding: token.encoded()) == token)
    #expect(token.encoded().count <= 51)
    #expect((token.device, token.sequence) == (a.device, 1))
    #expect(token.digest == a.version[a.device].digest)
  }

  @Test func decodingRefusesDamagedToken() throws {
    try a.edit { $0.name = "a" }
    let bytes = a.restoreToken.encoded()
    for i in bytes.indices {
      var damaged = bytes
      damaged[i] ^= 1
      #expect(throws: WireError.self) { try RestoreToken(decoding: damaged) }
      #expect(throws: WireError.self) {
        try RestoreToken(decoding: bytes[..<i])
      }
    }
    let longer = bytes.dropLast(4) + [0] + bytes.suffix(4)
    #expect(throws: WireError.self) {
      try RestoreToken(decoding: Array(longer).resealed)
    }
  }

  /// A crash can store a state without its token.
  @Test func tokenOfEarlierSaveKeepsDevice() throws {
    var tokens = [a.restoreToken]
    for n in 0..<5 {
      try a.edit { $0.name = "\(n)" }
      tokens.append(a.restoreToken)
    }
    for token in tokens {
      let opened = try reopen(a.state, token)
      #expect(opened.device == a.device)
      #expect(opened.deviceChange == nil)
    }
  }

  @Test func tokenOfLaterSaveChangesDevice() throws {
    try a.edit { $0.name = "kept" }
    let backup = a.state
    try a.edit { $0.name = "lost" }
    let opened = try reopen(backup, a.restoreToken)
    #expect(
      opened.deviceChange
        == .init(
          old: a.device, new: DeviceID(7), lastStored: 1, lastSent: 2))
    #expect(opened.device == DeviceID(7))
  }

  @Test func lostOrForeignTokenChangesDevice() throws {
    try a.edit { $0.name = "a" }
    #expect(try reopen(a.state, nil).device == DeviceID(7))
    #expect(
      try reopen(a.state, Replica.empty(3).restoreToken).device == DeviceID(7))
  }

  /// A lost pull reveals a restored backup, like any lost save.
  @Test func tokenCountsPulls() throws {
    try a.edit { $0.name = "a" }
    func pull(_ name: String, at time: Int64) throws {
      try a.importRows(from: "crm", modifiedAt: time) {
        $0[Sailor.self, "eve"].name = name
      }
    }
    try pull("Eve", at: 1)
    let (backup, early) = (a.state, a.restoreToken)
    try pull("Eva", at: 2)
    #expect(early.pullCount == 1 && a.restoreToken.pullCount == 2)
    #expect(
      try RestoreToken(decoding: a.restoreToken.encoded()) == a.restoreToken)
    #expect(try reopen(backup, a.restoreToken).device == DeviceID(7))
    #expect(try reopen(backup, early).device == a.device)
    #expect(try reopen(a.state, early).device == a.device)
  }

  /// The token precedes all saves.
  @Test func tokenWithoutSaveKeepsDevice() throws {
    let token = a.restoreToken
    for n in 0..<10 { try a.edit { $0.name = "\(n)" } }
    #expect(try reopen(a.state, token).device == a.device)
  }

  /// The replica keeps the digest of the last confirmed token.
  @Test func confirmedTokenKeepsDeviceAfterManySaves() throws {
    try a.edit { $0.name = "first" }
    let token = a.restoreToken
    a.confirmTokenStored(token)
    for n in 0..<5_000 { try a.edit { $0.name = "\(n)" } }
    #expect(try reopen(a.state, token).device == a.device)
    let other = Replica.empty(3)
    try other.edit { $0.name = "first" }
    let forgotten = other.restoreToken
    for n in 0..<5_000 { try other.edit { $0.name = "\(n)" } }
    #expect(try reopen(other.state, forgotten).device == DeviceID(7))
  }

  /// The replica drops digests of stable saves and still recognizes the token.
  @Test func openingTokenKeepsDeviceAfterStableSaves() throws {
    for n in 0..<3 { try a.edit { $0.name = "\(n)" } }
    let opened = try reopen(a.state, a.restoreToken)
    let b = Replica.empty(2)
    for n in 0..<5 { try opened.edit { $0.name = "on \(n)" } }
    for _ in 0..<3 {
      opened.merge(b)
      b.merge(opened)
    }
    try opened.edit { $0.name = "last" }
    #expect(opened.state.ownDigests.floor == 3)
    #expect(try reopen(opened.state, a.restoreToken).device == a.device)
  }

  @Test func confirmTokenStoredAcceptsTokenOfStableSave() throws {
    let b = Replica.empty(2)
    try a.edit { $0.name = "1" }
    let token = a.restoreToken
    for _ in 0..<3 {
      a.merge(b)
      b.merge(a)
    }
    try a.edit { $0.name = "2" }
    #expect(a.stabilityCut.contains(Dot(a.device, 1)))
    #expect(a.confirmTokenStored(token))
    #expect(try reopen(a.state, token).device == a.device)
  }

  /// The digest of the save with the token's number is dropped.
  @Test func confirmTokenStoredIgnoresCloneTokenOfDroppedNumber() throws {
    try a.edit { $0.name = "1" }
    let clone = try reopen(a.state, a.restoreToken)
    let b = Replica.empty(2)
    for n in 2...3 { try a.edit { $0.name = "\(n)" } }
    for _ in 0..<3 {
      a.merge(b)
      b.merge(a)
    }
    #expect(a.confirmTokenStored(a.restoreToken))
    try a.edit { $0.name = "4" }
    try clone.edit { $0.name = "the clone's 2" }
    #expect(a.state.ownDigests.floor == 3)
    #expect(!a.confirmTokenStored(clone.restoreToken))
    #expect(try reopen(a.state, clone.restoreToken).device != a.device)
  }

  @Test func confirmTokenStoredIgnoresTokenOfAnotherDevice() throws {
    try a.edit { $0.name = "a" }
    let token = a.restoreToken
    a.confirmTokenStored(Replica.empty(3).restoreToken)
    #expect(a.state.identity.durableToken == nil)
    a.confirmTokenStored(token)
    #expect(a.state.identity.durableToken == token)
  }

  @Test func confirmTokenStoredIgnoresTokenOfAnotherHistory() throws {
    try a.edit { $0.name = "1" }
    let clone = try reopen(a.state, a.restoreToken)
    for name in ["2", "3"] { try a.edit { $0.name = name } }
    #expect(!clone.confirmTokenStored(a.restoreToken))
    #expect(a.confirmTokenStored(a.restoreToken))
    // The token of the original reveals a backup of the clone.
    let opened = try reopen(clone.state, a.restoreToken)
    #expect(opened.device == DeviceID(7))
  }
}
