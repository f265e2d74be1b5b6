// SPDX-License-Identifier: Apache-2.0

extension LatticeScript {
  /// Takes steps out, and moves steps to earlier devices, as long as the script
  /// satisfies `fails`.
  mutating func shrink(while fails: (LatticeScript) -> Bool) {
    var hasMoved = true
    while hasMoved {
      steps = steps.shrunk { fails(LatticeScript(steps: $0)) }
      hasMoved = false
      for i in steps.indices {
        for place in 0..<steps[i].place where !hasMoved {
          var moved = self
          moved.steps[i] = steps[i].moved(to: place)
          if fails(moved) { (self, hasMoved) = (moved, true) }
        }
      }
    }
  }
}

extension Array {
  /// Takes elements out as long as what remains satisfies `fails`: long runs
  /// first, at last every single one.
  ///
  /// Zeller, Hildebrandt, *Simplifying and isolating failure-inducing input*
  /// (2002), without the complements.
  func shrunk(while fails: ([Element]) -> Bool) -> [Element] {
    var smallest = self
    var length = Swift.max(count / 2, 1)
    while true {
      let before = smallest.count
      var start = 0
      while start < smallest.count {
        var part = smallest
        part.removeSubrange(start..<Swift.min(start + length, part.count))
        if fails(part) { smallest = part } else { start += length }
      }
      if length == 1, smallest.count == before { return smallest }
      length = Swift.max(length / 2, 1)
    }
  }
}
