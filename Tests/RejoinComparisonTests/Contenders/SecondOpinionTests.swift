// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

/// The simplest contenders once more, in as few words as possible and by another way:
/// both must end alike on every episode.
@Suite struct SecondOpinionTests {
  private let episodes: [Episode] = {
    var (calm, hostile) = (Workload.calm, Workload.hostile)
    (calm.episodes, hostile.episodes) = (100, 100)
    return calm.generate() + hostile.generate()
  }()

  /// Each device's record after all of its edits, one after another.
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

  /// Of counters and sets, what each has changed is added up; of a register, the last
  /// device to arrive that has changed it decides.
  @Test func threeWayHandlerMergesByKind() throws {
    try check("handler.threeWay") { episode in
      let copies = copies(episode)
      let base = episode.base ?? [:]
      let arrived = episode.devices.compactMap { device in
        copies[device].map { $0.0 }
      }
      // A deletion is carried out if nothing has changed, and undone by who comes
      // after it, whose record it then is.
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
