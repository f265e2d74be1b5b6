// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite struct DotTests {
  @Test func orderComparesDevicesBeforeSequences() {
    let dots = [
      Dot(DeviceID(1), 9), Dot(DeviceID(1), 10), Dot(DeviceID(2), 1),
      Dot(DeviceID(high: 1, low: 0), 0),
    ]
    for (i, a) in dots.enumerated() {
      for (j, b) in dots.enumerated() { #expect((a < b) == (i < j)) }
    }
  }

  @Test func descriptionShowsDeviceAndSequence() throws {
    let phone = try #require(DeviceID(name: "phone"))
    #expect("\(Dot(phone, 3))" == "phone:3")
  }
}
