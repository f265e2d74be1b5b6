//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

@testable import Rejoin

/// How random scripts change each of the library's lattices.
enum LawSubjects {
  private static let words = ["a", "b", "e\u{301}", "\u{e9}"]

  static let vectorClock = LawSubject(initial: VectorClock()) {
    clock, device, random in
    let dot = Dot(device, clock[device] + UInt64(random.below(3)))
    clock.insert(dot)
    return VectorClock(dot)
  }

  static let causalContext = LawSubject(initial: CausalContext()) {
    context, _, random in
    let dots = (0..<random.below(3)).map { _ in
      Dot(DeviceID(UInt64(random.below(3))), UInt64(random.below(8)))
    }
    let delta = CausalContext(dots: dots)
    context.merge(delta)
    return delta
  }

  static let replicaClock = LawSubject(initial: ReplicaClock()) {
    clock, device, random in
    // Now and then a number is used twice, with another history.
    let n = clock[device].n + UInt64(random.below(3))
    let save = ReplicaClock.Save(
      n: n, time: random.time(), digest: UInt64(random.below(4)))
    var delta = ReplicaClock()
    delta.insert(save, of: device)
    clock.insert(save, of: device)
    return delta
  }

  static let lwwRegister = LawSubject(
    initial: LWWRegister<String>()
  ) {
    register, device, random in
    let word = random.below(6) == 0 ? nil : random.pick(words)
    let time = random.time()
    return (try? register.write(word, by: device, at: time)) ?? register
  }

  static let mvRegister = LawSubject(
    initial: MVRegister<String>()
  ) {
    register, device, random in
    let word = random.below(6) == 0 ? nil : random.pick(words)
    return register.write(word, by: device, at: random.time())
  }

  static let observedMVRegister = LawSubject(
    initial: MVRegister<String>()
  ) {
    register, device, random in
    let word = random.below(6) == 0 ? nil : random.pick(words)
    let time = random.below(8) == 0 ? .max : random.time()
    let observed = prefix(of: register.clock, &random)
    return register.write(word, by: device, at: time, observed: observed)
  }

  static let counter = LawSubject(initial: PNCounter()) {
    counter, device, random in
    let amount = random.below(10)
    let delta =
      switch random.below(6) {
      case 0: counter.reset()
      case 1: try? counter.set(to: Int64(amount - 5), at: device)
      case 2: try? counter.decrement(by: UInt64(amount), at: device)
      default: try? counter.increment(by: UInt64(amount), at: device)
      }
    return delta ?? PNCounter()
  }

  static let set = LawSubject(initial: ORSet<String>()) {
    set, device, random in
    let word = random.pick(words)
    return random.below(3) == 0
      ? set.remove(word, by: device) : set.insert(word, by: device)
  }

  static let removeWinsSet = LawSubject(
    initial: RemoveWinsSet<String>()
  ) {
    set, device, random in
    let word = random.pick(words)
    return random.below(3) == 0
      ? set.remove(word, by: device) : set.insert(word, by: device)
  }

  static let ledger = LawSubject(
    initial: Ledger(),
    change: { ledger, device, random in
      if random.below(3) > 0 {
        let amount = Int64(random.below(100)) - 50
        return ledger.append(amount, by: device, at: random.time())
      }
      ledger.fold(upTo: prefix(of: ledger.counts, &random))
      return Ledger()
    },
    identical: { $0 == $1 && unfolded($0) == unfolded($1) })

  private static func unfolded(_ ledger: Ledger) -> [String] {
    ledger.entries.map { "\($0.device) \($0.entry)" }
  }

  /// A clock somewhere below another.
  static func prefix(
    of clock: VectorClock, _ random: inout ScriptRandom
  ) -> VectorClock {
    var part = VectorClock()
    for entry in clock.entries {
      part[entry.device] = UInt64(random.below(Int(entry.count) + 1))
    }
    return part
  }
}
