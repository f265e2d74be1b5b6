// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinSQL
@testable import RejoinStore

/// The list of a hub's scopes.
@Suite final class HubListingTests: HubSuite {
  /// The names of the pages, as a caller reads them.
  private func pages(
    _ hub: HubConnection, after name: String?, limit: Int
  ) throws -> [[String]] {
    var pages: [[String]] = []
    var last = name
    for _ in 0..<20 {
      let page = try hub.scopes(after: last, limit: limit).map(\.name)
        .filter { name == nil || $0.hasPrefix(scope) }
      guard let end = page.last else { return pages }
      pages.append(page)
      last = end
    }
    return pages
  }

  private func isEqual(_ names: [String], _ others: [String]) -> Bool {
    names.map { ScopeName($0) } == others.map { ScopeName($0) }
  }

  @Test(arguments: Database.available)
  func scopesAreListedInOrderOfBytes(_ database: Database) throws {
    let hub = try hub(database)
    // The two last names are equal as strings.
    let names = ["", "\0", " a", " aa", " b", " e\u{301}", " \u{e9}"]
      .map { scope + $0 }
    for name in names.reversed() {
      let phone = replica(1)
      try write(phone, "1")
      _ = try hub.apply(#require(phone.delta()), in: name)
    }
    for limit in 1...8 {
      // The name before the first one has its bytes without the last.
      let before = String(scope.dropLast())
      let pages = try pages(hub, after: before, limit: limit)
      #expect(isEqual(pages.flatMap { $0 }, names))
      #expect(pages.dropLast().allSatisfy { $0.count == limit })
    }
    #expect(
      isEqual(
        try hub.scopes(after: names[3], limit: 2).map(\.name),
        Array(names[4...5])))
  }

  @Test func firstPageStartsWithEmptyName() async throws {
    let path = self.path
    let hub = try await Hub(connections: 1) {
      try Database.sqlite.connect(path)
    }
    #expect(try await hub.scopes().isEmpty)
    let session = hub.makeSession { _ in }
    let phone = replica(1)
    try write(phone, "1")
    for name in ["b", "", "a"] {
      try await session.apply(#require(phone.delta()), in: name)
    }
    try open(path, scope: "aa").write("Milk")
    #expect(try await hub.scopes().map(\.name) == ["", "a", "b"])
    #expect(try await hub.scopes(limit: 2).map(\.name) == ["", "a"])
    #expect(try await hub.scopes(after: "").map(\.name) == ["a", "b"])
    #expect(try await hub.scopes(after: "a").map(\.name) == ["b"])
  }

  @Test(arguments: Database.available)
  func scopeShowsItsSizeAndProgress(_ database: Database) throws {
    let hub = try hub(database)
    func listed() throws -> Hub.Scope? {
      try hub.scopes(after: String(scope.dropLast()), limit: 1)
        .first { $0.name == scope }
    }
    #expect(try listed() == nil)
    let (phone, tablet) = (replica(1), replica(2))
    try write(phone, "1", "2")
    try exchange(phone, hub)
    try write(tablet, "3")
    try exchange(tablet, hub)
    var found = try #require(try listed())
    #expect((found.records, found.devices) == (3, 2))
    #expect(!found.isErased)
    #expect(
      found.lastSave
        == max(
          phone.version[phone.device].time, tablet.version[tablet.device].time))
    // The phone does not show a version that has the save of the tablet.
    #expect(
      found.awaitedDevices[phone.device] == phone.version[phone.device].time)
    // A device with an incomplete save is awaited as well.
    let watch = replica(3)
    try write(watch, "4", "5")
    let part = try #require(watch.delta()?.split(into: 2).first)
    _ = try hub.apply(part, in: scope)
    found = try #require(try listed())
    #expect((found.records, found.devices) == (4, 3))
    #expect(found.awaitedDevices[watch.device] == .zero)
    // A retired device is not awaited.
    try exchange(tablet, hub)
    try tablet.retire(phone.device)
    try exchange(tablet, hub)
    found = try #require(try listed())
    #expect(found.awaitedDevices[phone.device] == nil)
    #expect(found.devices == 3)
    #expect(found.lastSave == tablet.version[tablet.device].time)
  }

  /// Neither other scopes nor records are read.
  @Test(arguments: Database.available)
  func pageReadsOnlyItsScopes(_ database: Database) throws {
    let connection = CountingConnection(try connect(database))
    let hub = try HubConnection(connection, makeDeviceID: DeviceID.random)
    let phone = replica(1)
    try write(phone, "1")
    for i in 10..<13 {
      _ = try hub.apply(#require(phone.delta()), in: "\(scope) \(i)")
    }
    func rows() throws -> Int {
      connection.reset()
      #expect(try hub.scopes(after: scope, limit: 2).count == 2)
      return connection.rows
    }
    let few = try rows()
    try phone.save { transaction in
      for i in 0..<500 { transaction[Note.self, "\(i)"].title = "Milk" }
    }
    for i in 10..<40 {
      _ = try hub.apply(#require(phone.delta()), in: "\(scope) \(i)")
    }
    #expect(try rows() == few)
  }
}
