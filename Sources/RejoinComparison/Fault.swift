// SPDX-License-Identifier: Apache-2.0

/// A fault of a contender, which no choice of rules explains.
package enum Fault: CaseIterable, Hashable, Sendable {
  /// The devices end with different records.
  case disagreement
  /// A record exists that should not, or the other way round, under both rules
  /// for deletions.
  case existence
  /// All devices lose a change, under both rules for deletions.
  case loss

  /// Whether a contender has the fault in an episode.
  package func isIn(_ verdict: EpisodeVerdict) -> Bool {
    let rules = [verdict.losses, verdict.ifDeletionsWin]
    switch self {
    case .disagreement: return verdict.losses.disagreements > 0
    case .existence: return rules.allSatisfy { $0.recordsWrong > 0 }
    case .loss:
      return rules.allSatisfy {
        $0.disagreements == 0 && $0.recordsWrong == 0 && !$0.isLossless
      }
    }
  }

  /// The fault in words, as a predicate.
  package var words: String {
    switch self {
    case .disagreement: "leaves different records on the devices"
    case .existence: "deletes an inserted record, or keeps a deleted one"
    case .loss: "loses a change on all devices"
    }
  }
}

extension Episode {
  /// Returns the smallest episode in which a fault remains, found by leaving out
  /// one part after another.
  ///
  /// - Parameters:
  ///   - fault: A fault that the contender has in this episode.
  ///   - judge: A closure that runs the contender on episodes.
  package func smallest(
    with fault: Fault, judge: ([Episode]) throws -> [EpisodeVerdict]
  ) rethrows -> Episode {
    var smallest = self
    // The order must not depend on the edits that are left.
    smallest.arrival = arrival ?? devices
    while true {
      let smaller = smallest.reductions
      let verdicts = smaller.isEmpty ? [] : try judge(smaller)
      guard let index = verdicts.firstIndex(where: fault.isIn) else { break }
      smallest = smaller[index]
    }
    smallest.id = id
    return smallest
  }

  /// The number of edits, and then that of their changes, which order episodes.
  package var size: [Int] {
    [
      edits.count + earlier.count, edits.reduce(0) { $0 + $1.fields.count },
      base?.count ?? 0, arrival?.count ?? 0,
    ]
  }

  /// The episodes with one part less, each with an ID of its own.
  var reductions: [Episode] {
    var reductions: [Episode] = []
    func add(_ change: (inout Episode) -> Void) {
      var episode = self
      change(&episode)
      episode.id = "\(id), reduction \(reductions.count + 1)"
      reductions.append(episode)
    }
    for device in Set(edits.map(\.device)).sorted() {
      add { $0.edits.removeAll { $0.device == device } }
    }
    for index in edits.indices { add { $0.edits.remove(at: index) } }
    if !earlier.isEmpty { add { $0.earlier = [] } }
    let needed = Set((edits + earlier).map(\.device))
    for index in (arrival ?? []).indices
    where !needed.contains(arrival?[index] ?? "")
      || repeatedArrivals.contains(arrival?[index] ?? "")
    {
      add { $0.arrival?.remove(at: index) }
    }
    for index in edits.indices where edits[index].fields.count > 1 {
      for field in edits[index].fields.sorted() {
        add { $0.edits[index].leaveOut(field) }
      }
    }
    // Edits that end with a deletion leave no record, whatever they wrote.
    for index in earlier.indices
    where earlier[index].fields.count > 1 && earlier.last?.isDeletion == true {
      for field in earlier[index].fields.sorted() {
        add { $0.earlier[index].leaveOut(field) }
      }
    }
    for field in (base ?? [:]).keys.sorted() where earlier.isEmpty {
      add { $0.base?[field] = nil }
    }
    let used = (edits + earlier).reduce(into: Set((base ?? [:]).keys)) {
      $0.formUnion($1.fields)
    }
    if !used.isSuperset(of: kinds.keys) {
      add { $0.kinds = kinds.filter { used.contains($0.key) } }
    }
    return reductions
  }
}

extension Episode.Edit {
  /// Removes the changes of a field.
  fileprivate mutating func leaveOut(_ field: String) {
    clear.removeAll { $0 == field }
    (set[field], increment[field]) = (nil, nil)
    (insert[field], remove[field]) = (nil, nil)
  }
}
