// SPDX-License-Identifier: Apache-2.0

extension LatticeScript {
  /// Removes steps and moves steps to earlier devices, as long as the script
  /// still satisfies `fails`.
  mutating func shrink(while fails: (LatticeScript) -> Bool) {
    var hasMoved = true
    while hasMoved {
      steps = steps.shrunk { fails(LatticeScript(steps: $0)) }
      hasMoved = false
      for i in steps.indices {
        for index in 0..<steps[i].index where !hasMoved {
          var moved = self
          moved.steps[i] = steps[i].moved(to: index)
          if fails(moved) { (self, hasMoved) = (moved, true) }
        }
      }
    }
  }
}

extension Array {
  /// Returns the array without the elements that it doesn't need to satisfy
  /// `fails`.
  ///
  /// The method first removes long runs of elements, and finally single
  /// elements. See Zeller, Hildebrandt, *Simplifying and isolating
  /// failure-inducing input* (2002). It omits the tests of complements.
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
