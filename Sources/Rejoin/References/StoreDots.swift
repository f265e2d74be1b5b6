// SPDX-License-Identifier: Apache-2.0

/// The greatest sequence number of each device in one store.
struct StoreDots {
  private let count: Int
  /// The number of each device, zero for most.
  ///
  /// Allocated with the first number, because the short form of a record needs
  /// none.
  private var greatest: [UInt64] = []
  /// The devices whose number is not zero.
  ///
  /// With this list, clearing costs no more than inserting.
  private(set) var touched: [Int32] = []

  init(count: Int) { self.count = count }

  subscript(line: Int) -> UInt64 { greatest.isEmpty ? 0 : greatest[line] }

  mutating func begin() {
    for line in touched { greatest[Int(line)] = 0 }
    touched.removeAll(keepingCapacity: true)
  }

  mutating func insert(_ sequence: UInt64, _ line: Int) {
    if greatest.isEmpty {
      greatest = Array(repeating: 0, count: count)
    }
    if greatest[line] == 0 { touched.append(Int32(line)) }
    greatest[line] = max(greatest[line], sequence)
  }

  /// Returns the numbers as a clock.
  func clock(_ saves: SaveTable) -> VectorClock {
    VectorClock(
      sorted: touched.sorted().map { line in
        .init(
          device: saves.lines[Int(line)].device, count: greatest[Int(line)])
      })
  }
}
