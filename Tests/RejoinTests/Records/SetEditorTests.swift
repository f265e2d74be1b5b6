// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import Testing

/// The editor's `contains(_:)` and `elements` agree after every edit.
@Suite struct SetEditorTests {
  private struct Tagged: Entity {
    let tags = set("tags", of: Int.self)
    let newer = set(
      "newer", of: Int.self, fallingBackTo: .set(of: String.self) { Int($0) })
  }

  private let replica = Replica(
    device: DeviceID(1), schema: [Tagged.self],
    wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(9) })

  private func edit(_ tags: SetEditor<Int>, _ random: inout SeededRandom) {
    switch random.number(below: 8) {
    case 0: tags.removeAll()
    case 1...3: tags.remove(random.number(below: 6))
    default: tags.insert(random.number(below: 6))
    }
    let elements = tags.elements
    for element in 0..<6 {
      #expect(tags.contains(element) == elements.contains(element))
    }
  }

  @Test func containsAgreesWithElements() throws {
    var random = SeededRandom(seed: 1)
    for round in 0..<60 {
      try replica.save { transaction in
        let record = transaction[Tagged.self, "\(round % 3)"]
        if random.chance(percent: 10) { record.delete() }
        // An older version of the app stores texts.
        if random.chance(percent: 20) {
          transaction.apply(
            .members(SetEdit(inserting: ["4"])),
            to: FieldKey("newer", .set), of: RecordID("Tagged", "\(round % 3)"))
        }
        for _ in 0..<4 {
          edit(record.tags, &random)
          edit(record.newer, &random)
        }
      }
    }
  }
}
