// SPDX-License-Identifier: Apache-2.0

/// An ending of a contender that neither rule for deletions explains.
package enum Fault: CaseIterable, Hashable, Sendable {
  /// The devices end with different records.
  case disagreement
  /// A record exists that should not, or the other way round.
  case existence
  /// All devices lose a change, or show content that must be unset.
  case loss

  /// Whether a contender has the fault in an episode.
  package func isIn(_ verdict: EpisodeVerdict) -> Bool {
    isIn(verdict.losses, verdict.ifDeletionsWin)
  }

  /// Whether a contender has the fault if the devices arrive the other way round.
  package func isInReversed(_ verdict: EpisodeVerdict) -> Bool {
    guard let losses = verdict.reversed,
      let other = verdict.reversedIfDeletionsWin
    else { return false }
    return isIn(losses, other)
  }

  private func isIn(_ losses: Losses, _ ifDeletionsWin: Losses) -> Bool {
    let disagrees = losses.disagreements > 0
    // The rules that explain whether the record exists.
    let rules = [losses, ifDeletionsWin].filter { $0.recordsWrong == 0 }
    switch self {
    case .disagreement: return disagrees
    case .existence: return !disagrees && rules.isEmpty
    case .loss:
      return !disagrees && !rules.isEmpty
        && rules.allSatisfy { !$0.isLossless }
    }
  }

  /// The fault in words, as a predicate.
  package var words: String {
    switch self {
    case .disagreement: "leaves different records on the devices"
    case .existence: "deletes an inserted record, or keeps a deleted one"
    case .loss: "loses or invents content on all devices"
    }
  }
}

extension Episode {
  /// Leaves out devices, edits and fields, one after another, and keeps the
  /// fault.
  ///
  /// - Parameters:
  ///   - fault: A fault that the contender has in this episode.
  ///   - judge: A closure that runs the contender on episodes, or returns `nil` if
  ///     it cannot. The search then ends.
  package func smallest(
    with fault: Fault, judge: ([Episode]) -> [EpisodeVerdict]?
  ) -> Episode {
    var smallest = self
    // The order must not depend on the edits that are left.
    smallest.arrival = arrival ?? devices
    // They belong to the whole episode.
    (smallest.resolution, smallest.resolvedBy) = (nil, nil)
    while true {
      let smaller = smallest.reductions
      let verdicts = smaller.isEmpty ? [] : judge(smaller) ?? []
      guard let index = verdicts.firstIndex(where: fault.isIn) else { break }
      smallest = smaller[index]
      smallest.id = id
    }
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
      episode.id = "\(id)-\(reductions.count + 1)"
      reductions.append(episode)
    }
    for device in Set(edits.map(\.device)).sorted() {
      add { $0.edits.removeAll { $0.device == device } }
    }
    for index in edits.indices { add { $0.edits.remove(at: index) } }
    if !earlier.isEmpty { add { $0.earlier = [] } }
    // Edits that end with a deletion leave no record, whatever they wrote.
    let isDeleted = earlier.last?.isDeletion == true
    for index in earlier.indices.dropLast() where isDeleted {
      add { $0.earlier.remove(at: index) }
    }
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
    for index in earlier.indices
    where isDeleted && earlier[index].fields.count > 1 {
      for field in earlier[index].fields.sorted() {
        add { $0.earlier[index].leaveOut(field) }
      }
    }
    for field in (base ?? [:]).keys.sorted() where earlier.isEmpty {
      add { $0.base?[field] = nil }
    }
    if base == [:] && earlier.isEmpty { add { $0.base = nil } }
    if !fields.isSuperset(of: kinds.keys) {
      add { $0.kinds = kinds.filter { fields.contains($0.key) } }
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
