// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

/// Independent, short implementations of the simplest contenders.
///
/// Both must end alike on every episode.
@Suite struct SecondOpinionTests {
  private let episodes: [Episode] = {
    var (calm, hostile) = (Workload.calm, Workload.hostile)
    (calm.episodes, hostile.episodes) = (100, 100)
    return calm.generate() + hostile.generate()
  }()

  /// Returns each device's record after all of its edits.
  private func copies(_ episode: Episode) -> [String: (PlainRecord?, Int64)] {
    var copies: [String: (PlainRecord?, Int64)] = [:]
    for edit in episode.edits {
      let before = copies[edit.device]?.0 ?? episode.base
      let hasSaved = copies[edit.device] != nil
      let copy = hasSaved ? copies[edit.device]?.0 ?? nil : before
      if edit.isDeletion && copy == nil { continue }
      copies[edit.device] = (
        edit.applied(to: copy, of: episode.kinds), edit.at
      )
    }
    return copies
  }

  private func check(
    _ name: String, _ end: (Episode) -> PlainRecord?
  ) throws {
    let strategy = try #require(Strategies.named(name))
    for episode in episodes {
      let outcome = try strategy.outcome(of: episode)
      #expect(outcome.agrees, "\(name), \(episode.id)")
      #expect(
        outcome.states.first??.visible == end(episode)?.visible,
        "\(name), \(episode.id)")
    }
  }

  @Test func lastRecordToArriveWins() throws {
    try check("recordByServerTime") { episode in
      let copies = copies(episode)
      guard let last = episode.devices.last(where: { copies[$0] != nil })
      else { return episode.base }
      return copies[last]?.0
    }
  }

  /// The changes of counters and sets add up.
  ///
  /// For a register, the last arriving device that changed it decides.
  @Test func threeWayHandlerMergesByKind() throws {
    try check("handler.threeWay") { episode in
      let copies = copies(episode)
      let base = episode.base ?? [:]
      let arrived = episode.devices.compactMap { device in
        copies[device].map { $0.0 }
      }
      // A deletion takes effect if no device changed the record before. The
      // next device that changes the record restores it with its own copy.
      var (exists, start, changed) = (episode.base != nil, base, false)
      var ends: [PlainRecord] = []
      for copy in arrived {
        guard let copy else {
          if !changed { (exists, ends) = (false, []) }
          continue
        }
        if !exists, episode.base != nil {
          (start, ends) = (copy, [])
        } else {
          ends.append(copy)
        }
        changed = changed || copy != episode.base || !exists
        exists = true
      }
      if !exists { return nil }
      var record = start
      for field in Set(base.keys).union(episode.changedFields) {
        for copy in ends where copy[field] != base[field] {
          switch episode.kinds[field] {
          case .counter:
            record[field] = .count(
              record.count(field) + copy.count(field) - base.count(field))
          case .set:
            let gone = base.elements(field).subtracting(copy.elements(field))
            let new = copy.elements(field).subtracting(base.elements(field))
            record[field] = .elements(
              record.elements(field).subtracting(gone).union(new))
          default: record[field] = copy[field]
          }
        }
      }
      return record
    }
  }
}
