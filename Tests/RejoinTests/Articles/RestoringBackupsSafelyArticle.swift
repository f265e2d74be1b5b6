// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct RestoringBackupsSafelyArticle {
  /// A storage location that an app writes to.
  final class Storage {
    private(set) var bytes: [UInt8] = []
    func write(_ bytes: [UInt8]) throws { self.bytes = bytes }
  }

  /// A keychain, which can have no item.
  final class Keychain {
    private(set) var bytes: [UInt8]?
    func write(_ bytes: [UInt8]?) throws { self.bytes = bytes }
  }

  private let file = Storage()
  private let keychain = Keychain()

  private func send(_ delta: Delta?) {}

  @Test func article() throws {
    let phone = Replica.ofArticle(1, [Profile.self])
    try phone.save { $0[Profile.self, "ada"].steps.increment(by: 1200) }
    try file.write(phone.state.encoded())  // 1. the state
    let token = phone.restoreToken
    try keychain.write(token.encoded())  // 2. the token
    phone.confirmTokenStored(token)
    send(phone.delta())  // 3. only now
    #expect(try opened() == nil)
    // Store the token of a save, but not the state with the save.
    try phone.save { $0[Profile.self, "ada"].steps.increment() }
    try keychain.write(phone.restoreToken.encoded())
    #expect(try opened()?.old == phone.device)
    try keychain.write(nil)
    #expect(try opened()?.old == phone.device)
  }

  private func opened() throws -> Replica.DeviceChange? {
    let phone = Replica(
      opening: try ReplicaState(decoding: file.bytes),
      token: try keychain.bytes.map { try RestoreToken(decoding: $0) },
      schema: [Profile.self], wallClock: .system, makeDeviceID: DeviceID.random)
    if let change = phone.deviceChange {
      // Restored or cloned: later saves use `change.new`.
      #expect(change.new == phone.device)
    }
    return phone.deviceChange
  }
}
