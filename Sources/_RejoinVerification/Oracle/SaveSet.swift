// SPDX-License-Identifier: Apache-2.0
/// A set of saves, each identified by its index in a history.
struct SaveSet: Hashable {
  /// The indices, in ascending order.
  private(set) var members: [Int32] = []

  init() {}

  init(_ save: Int) { members = [Int32(save)] }

  var isEmpty: Bool { members.isEmpty }

  func contains(_ save: Int) -> Bool {
    let i = position(of: Int32(save))
    return i < members.count && members[i] == Int32(save)
  }

  func filter(_ isIncluded: (Int) -> Bool) -> SaveSet {
    var part = SaveSet()
    part.members = members.filter { isIncluded(Int($0)) }
    return part
  }

  mutating func insert(_ save: Int) {
    let i = position(of: Int32(save))
    if i == members.count || members[i] != Int32(save) {
      members.insert(Int32(save), at: i)
    }
  }

  mutating func formUnion(_ other: SaveSet) {
    if other.members == members { return }
    for save in other.members { insert(Int(save)) }
  }

  private func position(of save: Int32) -> Int {
    if let last = members.last, last < save { return members.count }
    var (low, high) = (0, members.count)
    while low < high {
      let middle = (low + high) / 2
      if members[middle] < save { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
