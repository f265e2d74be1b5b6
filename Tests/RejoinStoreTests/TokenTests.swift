// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinSQL
import Testing

@testable import RejoinStore

/// Backups, copies, and the token that tells them from the latest state.
@Suite final class TokenTests: StoreSuite {
  /// Opens it again as a device that has not been.
  private func reopen(_ name: String = "notes.sqlite") throws -> StoredScope {
    try open(folder.file(name), token: keeper, as: 2)
  }

  @Test func aTokenIsKeptBeforeAnythingLeaves() throws {
    let store = try open(path, token: keeper)
    let first = try #require(keeper.bytes)
    try store.write("one")
    #expect(keeper.bytes == first)
    #expect(try store.export { $0.delta() } != nil)
    #expect(
      try RestoreToken(decoding: try #require(keeper.bytes))
        == store.replica.restoreToken)
  }

  @Test func nothingLeavesIfTheTokenCannotBeKept() throws {
    let store = try open(path, token: keeper)
    try store.write("one")
    keeper.fails = true
    let error = #expect(throws: StoreError.self) {
      try store.export { _ in Issue.record("sent") }
    }
    guard case .tokenNotStored = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    keeper.fails = false
    #expect(try store.export { $0.delta() } != nil)
  }

  @Test func aBackupFromBeforeASendTakesANewDevice() throws {
    let store = try open(path, token: keeper)
    try store.write("one")
    try folder.copy("notes.sqlite", to: "backup.sqlite")
    try store.write("two")
    let sent = try #require(try store.export { $0.delta() })
    let restored = try reopen("backup.sqlite")
    #expect(restored.deviceChange?.old == DeviceID(1))
    #expect(restored.replica.device == DeviceID(2))
    let dot = try #require(try restored.write("three").dot)
    #expect(dot == Dot(DeviceID(2), 1))
    // What it had lost comes back, beside what it has saved since.
    try restored.update { _ = $0.apply(sent) }
    #expect(restored.replica.version[DeviceID(1)].sequence == 2)
    // The new device is kept.
    let again = try open(
      folder.file("backup.sqlite"), token: keeper, as: 3)
    #expect(again.deviceChange == nil)
    #expect(again.bytes == restored.bytes)
  }

  @Test func aCrashBeforeTheTokenIsNoRestore() throws {
    let store = try open(path, token: keeper)
    try store.write("one")
    try store.export { _ = $0.delta() }
    try store.write("two")
    let again = try reopen()
    #expect(again.deviceChange == nil)
    #expect(again.bytes == store.bytes)
  }

  @Test(arguments: [nil, [], [1, 2, 3]] as [[UInt8]?])
  func aLostOrDamagedTokenCostsTheDevice(_ bytes: [UInt8]?) throws {
    try open(path, token: keeper).write("one")
    keeper.bytes = bytes
    #expect(try reopen().deviceChange?.new == DeviceID(2))
  }

  @Test func theTokenOfAnotherDeviceCostsTheDevice() throws {
    let other = TestKeeper()
    let stranger = try open(folder.file("other"), token: other, as: 7)
    try stranger.write("other")
    try stranger.export { _ = $0.delta() }
    try open(path, token: keeper).write("one")
    keeper.bytes = other.bytes
    #expect(try reopen().deviceChange?.new == DeviceID(2))
  }

  @Test func anUnreadableTokenIsNoLostOne() throws {
    try open(path, token: keeper).write("one")
    keeper.fails = true
    let error = #expect(throws: StoreError.self) { try reopen() }
    guard case .tokenUnreadable = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    keeper.fails = false
    #expect(try reopen().deviceChange == nil)
  }

  @Test func aCopiedFileTakesANewDevice() throws {
    let store = try open(path, token: keeper)
    try store.write("one")
    try folder.copy("notes.sqlite", to: "copy.sqlite")
    let copy = try open(
      folder.file("copy.sqlite"), token: TestKeeper(), as: 5)
    #expect(copy.deviceChange?.new == DeviceID(5))
    #expect(try copy.write("two").dot == Dot(DeviceID(5), 1))
    #expect(try store.write("two").dot == Dot(DeviceID(1), 2))
  }

  /// A copy that took the token along, and is found when the histories meet.
  @Test func aCloneTakesANewDeviceInTheMiddle() throws {
    let store = try open(path, token: keeper)
    try store.write("one")
    try folder.copy("notes.sqlite", to: "clone.sqlite")
    let own = TestKeeper()
    own.bytes = keeper.bytes
    let path = folder.file("clone.sqlite")
    let clone = try open(path, token: own, as: 5)
    #expect(clone.deviceChange == nil)
    try store.write("two")
    let sent = try #require(try store.export { $0.delta() })
    try clone.update { _ = $0.apply(sent) }
    // As many saves as under the old ID: each has a digest of its own.
    #expect(try clone.write("three").dot == Dot(DeviceID(5), 1))
    #expect(clone.deviceChange?.new == DeviceID(5))
    try clone.export { _ = $0.delta() }
    let again = try open(path, token: own, as: 6)
    #expect(again.deviceChange == nil)
    #expect(again.bytes == clone.bytes)
  }

  @Test func aTokenFileIsReplacedAsAWhole() throws {
    let file = TokenFile(at: folder.file("token"))
    #expect(try file.load() == nil)
    for bytes in [[1, 2, 3], [], Array(repeating: 7, count: 51)] as [[UInt8]] {
      try file.store(bytes)
      #expect(try file.load() == bytes)
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path)
        == ["token"])
    #expect(throws: TokenFile.Failure.self) {
      try TokenFile(at: folder.file("none/token")).store([1])
    }
  }

  @Test func aTokenFileThatFailsKeepsWhatItHad() throws {
    let file = TokenFile(at: folder.file("token"))
    try file.store([1, 2, 3])
    // The disk is full.
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("token.new"), withDestinationPath: "/dev/full")
    #expect(throws: TokenFile.Failure.self) { try file.store([4]) }
    #expect(try file.load() == [1, 2, 3])
    // A file that cannot be read is not a missing one.
    let loop = folder.file("loop")
    try FileManager.default.createSymbolicLink(
      atPath: loop, withDestinationPath: loop)
    #expect(throws: TokenFile.Failure.self) { try TokenFile(at: loop).load() }
  }
}
