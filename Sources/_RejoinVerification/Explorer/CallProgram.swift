// SPDX-License-Identifier: Apache-2.0

/// The stores, the saves and the faults of a ``CallExplorer``.
public struct CallProgram: Sendable {
  /// The name in a list of programs.
  public let name: String
  /// The number of stores that save and ask.
  let devices: Int
  let hasHub: Bool
  /// The number of saves of each store before the start.
  var early: [Int] = []
  /// The calls before the start.
  var introductions: [(Int, Int)] = []
  /// The number of saves of each store.
  let saves: [Int]
  /// The number of faults.
  let faults: Int
  /// Whether the hub has two servers that do not share their scope.
  var lags = false
  /// Whether the hub may refuse parts.
  var refuses = false

  private init(
    _ name: String, devices: Int, hub: Bool, saves: [Int], faults: Int
  ) {
    (self.name, self.devices, hasHub) = (name, devices, hub)
    (self.saves, self.faults) = (saves, faults)
  }

  private func after(_ saves: [Int], _ calls: [(Int, Int)] = []) -> CallProgram
  {
    var copy = self
    (copy.early, copy.introductions) = (saves, calls)
    return copy
  }

  private func lagging() -> CallProgram {
    var copy = self
    copy.lags = true
    return copy
  }

  private func refusing() -> CallProgram {
    var copy = self
    copy.refuses = true
    return copy
  }

  /// The programs of a daily run.
  public static let quick = programs(more: 0)
  /// The programs of a nightly run, with more faults.
  public static let nightly = programs(more: 1)

  private static func programs(more: Int) -> [CallProgram] {
    [
      CallProgram(
        "two stores", devices: 2, hub: false, saves: [1, more],
        faults: 1 + more
      ).after([0, 1]),
      CallProgram(
        "a store and a hub", devices: 1, hub: true, saves: [1 + more],
        faults: 2 + more
      ).after([1]),
      CallProgram(
        "a store and two servers", devices: 1, hub: true, saves: [1],
        faults: 3 + more
      ).after([1]).lagging(),
      CallProgram(
        "a transfer of two peers", devices: 2, hub: true, saves: [more, 0],
        faults: 1 + more
      ).after([1], [(0, 2)]),
      CallProgram(
        "a refused upload", devices: 2, hub: true, saves: [1, 0],
        faults: 2 + more
      ).after([1, 1], [(1, 2)]).refusing(),
    ]
  }
}
