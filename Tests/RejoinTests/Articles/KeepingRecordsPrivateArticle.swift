// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct KeepingRecordsPrivateArticle {
  struct Draft: Entity {
    let text = register("text", of: String.self)
  }

  @Test func article() throws {
    let shared = Replica(
      device: .random(), schema: [Profile.self], wallClock: .system,
      makeDeviceID: DeviceID.random)
    let drafts = Replica(  // Never asked for a delta
      device: .random(), schema: [Draft.self], wallClock: .system,
      makeDeviceID: DeviceID.random)
    try drafts.save { $0[Draft.self, "1"].text = "Dear" }
    try shared.save { $0[Profile.self, "ada"].name = "Ada" }
    #expect(shared.allRecordIDs == [RecordID("Profile", "ada")])
    #expect(drafts.allRecordIDs == [RecordID("Draft", "1")])
  }
}
