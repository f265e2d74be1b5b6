// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct AddingAndRetiringDevicesArticle {
  private let phone = Replica.ofArticle(1, [Profile.self])
  private let tablet = Replica.ofArticle(2, [Profile.self])
  private let hub = Replica.ofArticle(3, [Profile.self])

  @Test func article() throws {
    try phone.enroll(tablet.device, name: "Ada's tablet")
    #expect(phone.roster.contains(tablet.device))

    let report = hub.recordVersion(phone.version, of: phone.device)
    #expect(!report.hasFaults)

    try phone.retire(tablet.device)
    #expect(!phone.roster.contains(tablet.device))
  }
}
