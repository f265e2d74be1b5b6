// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Rejoin

/// Retired devices that save again.
@Suite(.encodes) struct ReturningTests {
  private let a = Replica.empty(1)
  private let d = Replica.empty(4)

  private func retired() throws {
    try d.edit { $0.miles.increment() }
    d.tell(a)
    try a.retire(d.device)
  }

  @Test func mergeReportsReactivatedDeviceOnce() throws {
    try retired()
    try d.edit { $0.miles.increment() }
    #expect(d.tell(a).reactivatedDevices == [d.device])
    try d.edit { $0.miles.increment() }
    #expect(d.tell(a).reactivatedDevices.isEmpty)
    #expect(a.ada?.miles == 3)
    try a.retire(d.device)
    try d.edit { $0.miles.increment() }
    #expect(d.tell(a).reactivatedDevices == [d.device])
  }

  @Test func knownSaveDoesNotReactivateDevice() throws {
    let c = Replica.empty(3)
    try retired()
    a.apply(try #require(d.delta()))
    #expect(a.retirements == [d.device: 1])
    // `c` receives the retirement before the save that it covers.
    for change in try #require(a.delta()).split(into: 100) { c.apply(change) }
    let report = c.apply(try #require(d.delta()))
    #expect(report.reactivatedDevices.isEmpty)
    #expect(c.retirements == [d.device: 1])
    #expect(!c.roster.contains(d.device))
  }

  /// Only the first save of a restored backup retires its old device.
  @Test func laterSavesDoNotRetireReactivatedDevice() throws {
    try d.edit { $0.miles.increment() }
    let reopened = Replica.opening(d.state, token: nil, as: 7)
    try reopened.edit { $0.miles.increment() }
    try d.edit { $0.miles.increment() }
    #expect(d.tell(reopened).reactivatedDevices == [d.device])
    try reopened.edit { $0.miles.increment() }
    #expect(reopened.roster == [d.device, DeviceID(7)])
    #expect(reopened.ada?.miles == 4)
  }

  @Test func saveDoesNotWriteRetirementOfDeviceWithoutSaves() throws {
    let fresh = Replica.opening(a.state, token: nil, as: 7)
    try fresh.edit { $0.name = "first" }
    #expect(fresh.delta()?.changes.map(\.id) == [Sailor.ada])
  }
}
