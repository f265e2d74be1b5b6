// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import _RejoinVerification
import Testing

/// A write, and the writes it superseded.
private struct Write {
  let value: String?
  let time: Timestamp
  let superseded: Set<Int>
}

extension Known<Write> {
  /// The writes that no known write superseded.
  fileprivate var siblings: [Deed<Write>] {
    deeds.filter { deed in
      !deeds.contains { $0.act.superseded.contains(deed.number) }
    }
  }

  /// The sibling with the greatest timestamp, and then the greatest device.
  fileprivate var shown: Deed<Write>? {
    siblings.max { ($0.rank, $0.number) < ($1.rank, $1.number) }
  }

  fileprivate func complaint(_ register: MVRegister<String>) -> String? {
    let shown = shown
    if register.value != shown?.act.value {
      return "shows \(register.value as Any)"
    }
    if register.author != shown?.device { return "wrong author" }
    let losers = Set(siblings.map(\.act.value))
      .filter { $0 != shown?.act.value }
    return Set(register.conflicts) == losers
      ? nil : "conflicts \(register.conflicts), not \(losers)"
  }
}

extension Deed<Write> {
  fileprivate var rank: Rank { Rank(time: act.time, device: device) }
}

private struct Rank: Comparable {
  let time: Timestamp
  let device: DeviceID

  static func < (a: Rank, b: Rank) -> Bool {
    (a.time, a.device) < (b.time, b.device)
  }
}

private typealias Scripts = SeenHistory<MVRegister<String>, Write>

@Suite(.encodes) struct MVRegisterOracleTests {
  private func word(_ random: inout SeededRandom) -> String? {
    random.number(below: 6) == 0 ? nil : "w\(random.number(below: 1000))"
  }

  @Test func plainWriteSupersedesKnownWrites() {
    let rules = Scripts.Rules(
      initial: MVRegister(),
      act: { register, device, known, random in
        let (value, time) = (word(&random), random.timestamp())
        let delta = register.write(value, on: device, at: time)
        let seen = Set(known.deeds.map(\.number))
        return (Write(value: value, time: time, superseded: seen), delta)
      },
      complaint: { $1.complaint($0) })
    #expect(Scripts.complaints(rules, seeds: 0..<400) == [])
  }

  /// The author of a write observed an earlier state of the replica.
  @Test func observedWriteSupersedesObservedWrites() {
    let rules = Scripts.Rules(
      initial: MVRegister(),
      act: { register, device, known, random in
        let (value, time) = (word(&random), random.timestamp())
        let observed = RandomChanges.prefix(of: register.clock, &random)
        let delta = register.write(
          value, on: device, at: time, observed: observed)
        let seen = observedDeeds(known, observed)
        let stays = known.siblings.filter { !seen.contains($0.number) }
        let stamp = stamp(time, device, above: stays)
        return (Write(value: value, time: stamp, superseded: seen), delta)
      },
      complaint: { $1.complaint($0) })
    #expect(Scripts.complaints(rules, seeds: 0..<400) == [])
  }

  /// Returns the deeds that a clock contains.
  private func observedDeeds(
    _ known: Known<Write>, _ clock: VectorClock
  ) -> Set<Int> {
    var counts = VectorClock()
    var seen: Set<Int> = []
    for deed in known.deeds {
      counts[deed.device] += 1
      if clock.contains(Dot(deed.device, counts[deed.device])) {
        seen.insert(deed.number)
      }
    }
    return seen
  }

  private func stamp(
    _ time: Timestamp, _ device: DeviceID, above stays: [Deed<Write>]
  ) -> Timestamp {
    guard let rival = stays.map(\.rank).max() else { return time }
    guard rival > Rank(time: time, device: device) else { return time }
    return Timestamp(rawValue: rival.time.rawValue + 1)
  }
}
