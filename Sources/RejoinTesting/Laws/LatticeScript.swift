// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A script of changes and merges on three devices.
///
/// Each change has its own seed, so if steps are removed from a script, the
/// other steps stay the same.
struct LatticeScript {
  enum Step {
    /// A device makes the random change with a number and a seed.
    case change(Int, on: Int, seed: UInt64)
    /// A device merges the value of another.
    case merge(from: Int, into: Int)
    /// A device merges the delta of a change, perhaps late, repeatedly or out
    /// of order.
    case deliver(Int, to: Int)

    /// The index of the device that takes the step.
    var index: Int {
      switch self {
      case .change(_, let here, _), .merge(_, let here), .deliver(_, let here):
        here
      }
    }

    /// Returns the same step on another device.
    func moved(to index: Int) -> Step {
      switch self {
      case .change(let number, _, let seed):
        .change(number, on: index, seed: seed)
      case .merge(let there, _): .merge(from: there, into: index)
      case .deliver(let number, _): .deliver(number, to: index)
      }
    }
  }

  static let devices = (0..<3).map { DeviceID(high: (0x41 + $0) << 56, low: 0) }

  var steps: [Step]

  init(steps: [Step]) { self.steps = steps }

  /// Creates the script that a seed determines.
  init(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    steps = []
    var changes = 0
    for _ in 0..<(3 + random.number(below: 14)) {
      let here = random.number(below: LatticeScript.devices.count)
      switch random.number(below: 5) {
      case 0:
        let there = random.number(below: LatticeScript.devices.count)
        steps.append(.merge(from: there, into: here))
      case 1 where changes > 0:
        steps.append(.deliver(random.number(below: changes), to: here))
      default:
        steps.append(.change(changes, on: here, seed: random.next()))
        changes += 1
      }
    }
  }
}
