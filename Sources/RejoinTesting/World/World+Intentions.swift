//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//
import Rejoin

// Convergence alone proves nothing: that everybody has lost an edit converges too.
extension World {
  /// That every save whose storage has survived has had its effect, whatever way
  /// it went.
  var demandsReports: Bool { false }
  func checkIntentions(of ring: [Int]) throws(ScriptMismatch) {
    let survivors = ring.reduce(into: Set<Int>()) {
      $0.formUnion(peers[$1].authored)
    }.sorted()
    for place in survivors {
      let save = history.saves[place]
      if isDoubtful(save.dot) { continue }
      for path in save.edits.keys.sorted()
      where !peers[ring[0]].model.isLocal(path) && !doubtful.contains(path.id) {
        for i in ring where peers[i].model.held[path]?.contains(place) != true {
          throw ScriptMismatch("\(save.dot) of \(path) is lost on \(name(i))")
        }
      }
    }
    for collision in collisions.sorted()
    where demandsReports && isHeldTwice(collision, in: ring) {
      try agree(
        "\(collision) is reported as used twice",
        reported.contains(collision.device), true)
    }
  }

  /// Whether two saves under one name have both reached somebody who is still
  /// there.
  private func isHeldTwice(_ dot: Dot, in ring: [Int]) -> Bool {
    let held = (places[dot] ?? []).filter { place in
      history.saves[place].edits.keys.contains { path in
        !peers[ring[0]].model.isLocal(path)
          && ring.contains {
            peers[$0].model.held[path]?.contains(place) == true
          }
      }
    }
    return held.count > 1
  }
}
