// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin

// Lines of several articles.
struct Profile: Entity {
  let name = register("name", of: String.self)
  let steps = counter("steps")
  let tags = set("tags", of: String.self)
}

extension WallClock {
  static let system = WallClock {
    Int64(Date().timeIntervalSince1970 * 1000)
  }
}

extension DeviceID {
  @Sendable static func random() -> DeviceID {
    var generator = SystemRandomNumberGenerator()
    return .random(using: &generator)
  }
}

extension Replica {
  /// Creates a replica whose device has no saves yet.
  static func ofArticle(_ device: UInt64, _ schema: Schema) -> Replica {
    Replica(
      device: DeviceID(device), schema: schema,
      // With equal times, the write of the greater device is shown.
      wallClock: WallClock { 1000 }, makeDeviceID: DeviceID.random)
  }
}
