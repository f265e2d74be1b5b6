// SPDX-License-Identifier: Apache-2.0
import Rejoin

// Convergence alone proves nothing: devices that all lose an edit also
// converge.
extension World {
  /// Checks that every device has the effects of every save whose storage
  /// survived.
  func checkIntentions(of ring: [Int]) throws(ScriptMismatch) {
    let survivors = ring.reduce(into: Set<Int>()) {
      $0.formUnion(peers[$1].authored)
    }.sorted()
    for index in survivors {
      let save = history.saves[index]
      if isUndecidable(save.dot) { continue }
      for location in save.edits.keys.sorted()
      where !isUndecidable(location.record) {
        for i in ring
        where peers[i].model.held[location]?.contains(index) != true {
          throw ScriptMismatch(
            "\(save.dot) of \(location) is lost on \(name(i))")
        }
      }
    }
  }
}
