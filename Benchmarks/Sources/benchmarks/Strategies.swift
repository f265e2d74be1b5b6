// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin
import RejoinComparison

extension Suite {
  /// The comparison of strategies: how long each takes for an episode.
  mutating func addStrategies() {
    for strategy in RejoinComparison.Strategies.all {
      add(
        "compare", strategy.name, per: "episode"
      ) { scale in
        var workload = Workload()
        workload.episodes = scale(1000)
        let episodes = workload.generate()
        let comparison = Comparison([strategy])
        return Work(
          operations: episodes.count, expecting: episodes.count, setUp: {}
        ) { _ in
          try comparison.run(episodes).strategies[0].score.episodes
        }
      }
    }
  }
}
