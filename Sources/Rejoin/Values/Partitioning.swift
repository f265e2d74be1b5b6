// SPDX-License-Identifier: Apache-2.0

extension RandomAccessCollection where Index == Int {
  /// Returns the index of the first element that satisfies `isInSecond`, or the
  /// end index.
  ///
  /// This is a binary search. The elements that satisfy `isInSecond` must
  /// follow all others.
  ///
  /// - Complexity: O(log *n*), where *n* is the number of elements.
  func partitioningIndex(where isInSecond: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if isInSecond(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
