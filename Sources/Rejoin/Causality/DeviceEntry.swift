// SPDX-License-Identifier: Apache-2.0

/// An element of an array sorted by device, with at most one element per
/// device.
protocol DeviceEntry {
  var device: DeviceID { get }
}

extension Array where Element: DeviceEntry {
  /// Returns the index of a device's entry, or the index to insert one at.
  ///
  /// - Complexity: O(log *n*), where *n* is the number of entries.
  @inline(__always)
  func position(of device: DeviceID) -> Int {
    partitioningIndex { $0.device >= device }
  }

  /// Returns the entry of a device, or `nil` for a device without an entry.
  func entry(of device: DeviceID) -> Element? {
    let i = position(of: device)
    return i < count && self[i].device == device ? self[i] : nil
  }

  /// Returns the entries that are later than a clock.
  ///
  /// - Parameters:
  ///   - clock: The clock.
  ///   - number: A closure that returns the number of an entry.
  /// - Complexity: O(*n* + *r*), where *n* is the number of entries and *r* is
  ///   the number of devices in the clock.
  func beyond(_ clock: VectorClock, by number: (Element) -> UInt64) -> [Element]
  {
    let known = clock.entries
    var j = 0
    return filter { entry in
      while j < known.count, known[j].device < entry.device { j += 1 }
      let isKnown = j < known.count && known[j].device == entry.device
      return number(entry) > (isKnown ? known[j].count : 0)
    }
  }

  /// Returns the union of two arrays sorted by device.
  ///
  /// If both arrays contain an entry of a device, the union keeps the greater
  /// one, according to `isBefore`.
  ///
  /// - Complexity: O(*n*), where *n* is the number of entries in both arrays.
  func union(
    _ other: [Element], by isBefore: (Element, Element) -> Bool
  ) -> [Element] {
    if other.isEmpty { return self }
    var union: [Element] = []
    union.reserveCapacity(Swift.max(count, other.count))
    var (i, j) = (0, 0)
    while i < count, j < other.count {
      let (a, b) = (self[i], other[j])
      if a.device == b.device {
        union.append(isBefore(a, b) ? b : a)
        i += 1
        j += 1
      } else if a.device < b.device {
        union.append(a)
        i += 1
      } else {
        union.append(b)
        j += 1
      }
    }
    return union + self[i...] + other[j...]
  }
}

#if REJOIN_CHECK_INVARIANTS
  extension Array where Element: DeviceEntry {
    /// Whether the entries are sorted by device, with one entry per device.
    var isSortedByDevice: Bool {
      zip(self, dropFirst()).allSatisfy { $0.device < $1.device }
    }
  }
#endif
