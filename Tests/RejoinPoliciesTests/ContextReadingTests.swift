// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

private struct Older: Entity {
  static let entityName = "Gauge"
  let level = register("level", of: Int.self)
  let hits = counter("hits")
}

private struct Gauge: Entity {
  let level = register(
    "level", of: Double.self,
    fallingBackTo: .register(of: Int.self) { Double($0) / 2 })
  let hits = register("hits", of: Int64.self, fallingBackTo: .counter { $0 })
}

/// The values that a context shows.
@Suite struct ContextReadingTests {
  private let replica = Replica(
    device: DeviceID(1), schema: [Gauge.self], wallClock: WallClock { 1000 },
    makeDeviceID: { DeviceID(99) })

  private func fetch() -> RecordEditor<Gauge> {
    EditingContext(replica).fetch(Gauge.self, key: "1")
  }

  @Test func negativeZeroReadsAsZero() throws {
    let context = EditingContext(replica)
    let gauge = context.fetch(Gauge.self, key: "1")
    gauge.level = -0.0
    #expect(gauge.level?.sign == .plus)
    let key = FieldKey("level", .register)
    context.set(.double(-0.0), for: key, in: RecordID("Gauge", "1"))
    guard
      case .double(let level) = context.value(
        of: key, in: RecordID("Gauge", "1"))
    else {
      Issue.record()
      return
    }
    #expect(level.sign == .plus)
  }

  @Test func olderValueIsShownUntilFieldIsWritten() throws {
    try replica.save { transaction in
      transaction[Older.self, "1"].level = 3
      transaction[Older.self, "1"].hits.increment(by: 7)
    }
    let gauge = fetch()
    #expect(gauge.level == 1.5)
    #expect(gauge.hits == 7)
    gauge.level = nil
    #expect(gauge.level == nil)
    gauge.level = 2
    #expect(gauge.level == 2)
  }

  @Test func unsetFieldHidesOlderValue() throws {
    try replica.save { transaction in
      transaction[Older.self, "1"].hits.increment(by: 7)
      transaction[Gauge.self, "1"].hits = nil
    }
    #expect(fetch().hits == nil)
    try replica.save { $0[Gauge.self, "1"].delete() }
    #expect(fetch().hits == nil)
  }
}
