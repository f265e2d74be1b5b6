// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin

extension Suite {
  /// Adds counters without a replica: W4 and W5.
  mutating func addCounters() {
    add(
      "W4", "increment of a counter", per: "increment", target: 5, beside: .copy
    ) { scale in
      let count = scale(1_000_000)
      let device = Dataset.device(1)
      return Work(
        operations: count, expecting: count, setUp: { PNCounter() }
      ) { counter in
        for _ in 0..<count { try counter.increment(on: device) }
        return Int(counter.value)
      }
    }
    add(
      "W5", "join of counters of 1,000 devices", per: "device", target: 6,
      beside: .walk
    ) { scale in
      let devices = scale(1000)
      let joins = scale(1000)
      var (one, other) = (PNCounter(), PNCounter())
      for i in 0..<devices {
        try one.increment(by: UInt64(1 + i % 2), on: Dataset.device(i))
        try other.increment(by: 1, on: Dataset.device(i))
        if i % 2 == 0 { try other.increment(by: 1, on: Dataset.device(i)) }
      }
      let copies = (one, other)
      return Work(
        operations: devices * joins, expecting: 2 * devices * joins,
        setUp: { copies }
      ) { counters in
        var sum = 0
        for _ in 0..<joins {
          var joined = counters.0
          joined.merge(counters.1)
          sum += Int(joined.value)
        }
        return sum
      }
    }
  }
}
