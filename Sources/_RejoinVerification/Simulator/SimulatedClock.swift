// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
/// The wall clock of a simulated device, which may be wrong.
struct SimulatedClock {
  enum Fault: Int, CaseIterable {
    case ahead, behind, drifting, frozen, jumping, extreme
  }

  private static let year: Int64 = 365 * 86_400_000

  let fault: Fault?
  /// The current error of the clock, apart from its drift, in milliseconds.
  private var offset: Int64 = 0
  /// The milliseconds that the clock gains per second.
  private var drift: Int64 = 0
  private var reading: Int64 = 0

  init(isWrong: Bool, _ random: inout SeededRandom) {
    fault = isWrong ? random.pick(Fault.allCases) : nil
    switch fault {
    case .ahead: offset = Self.year * Int64(1 + random.number(below: 50))
    case .behind: offset = -Self.year * Int64(1 + random.number(below: 60))
    case .drifting: drift = Int64(random.number(below: 401)) - 200
    default: offset = Int64(random.number(below: 2000)) - 1000
    }
  }

  /// Returns the reading of the clock at a time.
  mutating func read(at time: Int64, _ random: inout SeededRandom) -> Int64 {
    switch fault {
    case .frozen where reading != 0: return reading
    case .jumping where random.chance(percent: 30):
      offset = (Int64(random.number(below: 9)) - 4) * 3_600_000 * 24
    case .extreme:
      return random.pick([.min, -1, 0, 1 << 40, (1 << 48) - 2])
    default: break
    }
    reading = time + offset + time / 1000 * drift
    return reading
  }
}
