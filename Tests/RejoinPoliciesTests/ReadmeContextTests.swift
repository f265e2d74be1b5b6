// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinPolicies
import Testing

/// Compiles the README's example of an editing context.
@Suite struct ReadmeContextTests {
  private struct Person: Entity {
    let phone = register("phone", of: String.self)
  }

  @Test func contextSavesPhone() throws {
    let replica = Replica(
      device: DeviceID(1), schema: [Person.self], wallClock: WallClock { 1 },
      makeDeviceID: { DeviceID(99) })
    // README
    let context = EditingContext(
      replica, mergePolicy: .mergeByPropertyObjectTrump)
    context.fetch(Person.self, key: "taylor").phone = "1-800-275-2273"
    let report = try context.save()  // what was written, and what was dropped
    // README
    #expect(report.writtenFields.values.first == ["phone"])
    #expect(replica[Person.self, "taylor"]?.phone == "1-800-275-2273")
  }

  @Test func readmeContainsExample() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let readme = try String(
      contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    let parts = try String(
      contentsOf: URL(filePath: #filePath), encoding: .utf8
    ).components(separatedBy: "    // README\n")
    for line in parts[1].split(separator: "\n") {
      #expect(readme.contains(line.dropFirst(4)))
    }
  }
}
