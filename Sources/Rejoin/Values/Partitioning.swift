// SPDX-License-Identifier: Apache-2.0

extension RandomAccessCollection where Index == Int {
  /// The index of the first element that `isInSecond` picks, or the end: a binary
  /// search in an array that begins with all elements it does not pick.
  ///
  /// - Complexity: O(log *n*).
  func partitioningIndex(where isInSecond: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if isInSecond(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
