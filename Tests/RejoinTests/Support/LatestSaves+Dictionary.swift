// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin

extension LatestSaves: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral saves: (DeviceID, DeviceSave)...) {
    self.init()
    for (device, save) in saves { insert(save, of: device) }
  }
}
