// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// Counts of the resolutions of records that both sides of a merge changed.
package struct Resolutions: Sendable {
  /// The records that one device deleted and another edited.
  package private(set) var deletions = 0
  /// The deletions that people kept.
  package private(set) var deletionsKept = 0
  /// The registers that two devices left with different values.
  package private(set) var registers = 0
  /// The registers that people left with the later value.
  package private(set) var later = 0
  /// The registers that people left with the earlier value.
  package private(set) var earlier = 0
  /// The counters that several devices changed.
  package private(set) var counters = 0
  /// The counters that all devices changed by the same amount.
  package private(set) var sameAmount = 0
  /// The counters that people left with the sum of all changes.
  package private(set) var sumKept = 0
  /// The counters whose sum is negative.
  package private(set) var negativeSums = 0

  /// Counts the episodes that have a resolution.
  package init(_ episodes: [Episode]) {
    for episode in episodes {
      guard let resolution = episode.resolution else { continue }
      let saves = episode.contextSaves
      let isDeleted = saves.contains { $0.after == nil }
      if isDeleted, saves.contains(where: { $0.after != nil }) {
        deletions += 1
        deletionsKept += resolution == .deleted ? 1 : 0
      }
      guard !isDeleted, case .record(let chosen) = resolution else { continue }
      for field in episode.changedFields {
        let changing = saves.filter { $0.fields.contains(field) }
        guard changing.count > 1 else { continue }
        switch episode.kind(of: field) {
        case .register:
          let last = changing.compactMap { save in
            episode.uploads.last {
              $0.device == save.device && $0.fields.contains(field)
            }
          }
          addRegister(last, field, chosen)
        case .counter: addCounter(changing, field, chosen, episode)
        default: break
        }
      }
    }
  }

  private mutating func addRegister(
    _ uploads: [Upload], _ field: String, _ chosen: PlainRecord
  ) {
    let byTime = uploads.sorted { $0.edit.at < $1.edit.at }
    let values = byTime.map { $0.after?[field] }
    guard values.count == 2, values[0] != values[1] else { return }
    registers += 1
    later += chosen[field] == values[1] ? 1 : 0
    earlier += chosen[field] == values[0] ? 1 : 0
  }

  private mutating func addCounter(
    _ saves: [Upload], _ field: String, _ chosen: PlainRecord,
    _ episode: Episode
  ) {
    let base = (episode.base ?? [:]).count(field)
    let changes = saves.map {
      ($0.after ?? [:]).count(field).addingClamped(0 &- base)
    }
    let sum = changes.reduce(base) { $0.addingClamped($1) }
    counters += 1
    sameAmount += Set(changes).count == 1 ? 1 : 0
    sumKept += chosen.count(field) == sum ? 1 : 0
    negativeSums += sum < 0 ? 1 : 0
  }
}

extension Resolutions {
  /// The counts in sentences, without those that are zero.
  package var sentences: [String] {
    var sentences: [String] = []
    if deletions > 0 {
      sentences.append(
        "If one side deleted a record that the other edited, people kept the "
          + "deletion in \(share(deletionsKept, deletions)).")
    }
    if registers > 0 {
      sentences.append(
        "If both sides wrote one register differently, people kept the later "
          + "value in \(share(later, registers)), the earlier in "
          + "\(share(earlier, registers)), and neither in the rest.")
    }
    return sentences
  }

  /// Returns two sentences about counters, or `nil` if no counter was changed
  /// by several devices.
  private func counterSentences(_ group: String) -> String? {
    guard counters > 0 else { return nil }
    return
      "In `\(group)`, several devices changed \(counters.counted("counter")). "
      + "Rejoin ends with the sum of the changes, which people kept in "
      + "\(share(sumKept, counters)). All devices made the same change in "
      + "\(share(sameAmount, counters)), and the sum is negative in "
      + "\(share(negativeSums, counters))."
  }

  /// Returns a warning about episodes that totals do not count, or `nil` if
  /// totals count all.
  ///
  /// The numbers in such episodes are derived, so declaring one a counter
  /// produces a meaningless sum.
  package static func warning(_ episodes: [Episode]) -> String? {
    let groups = Dictionary(grouping: episodes.filter { !$0.countsInTotals }) {
      $0.group ?? ""
    }.sorted { $0.key < $1.key }
    if groups.isEmpty { return nil }
    let subjects = groups.map { group, episodes in
      "\(episodes.count.counted("record")) of group `\(group)`"
    }
    let sentences = groups.compactMap { group, episodes in
      Resolutions(episodes).counterSentences(group)
    }
    let advice =
      sentences.isEmpty
      ? []
      : [
        "Declare a number a counter only if every change adds to it, and never if "
          + "it is derived."
      ]
    let head = "Left out of the totals: \(subjects.joined(separator: ", "))."
    return ([head] + sentences + advice).joined(separator: " ")
  }

  private func share(_ part: Int, _ whole: Int) -> String {
    "\(part.grouped) of \(whole.grouped) (\(part.percent(of: whole)))"
  }
}
