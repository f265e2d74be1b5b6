// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting

/// Random changes of the library's stand-alone types.
enum RandomChanges {
  private static let words = ["a", "b", "e\u{301}", "\u{e9}"]

  private static func word(_ random: inout SeededRandom) -> String? {
    random.number(below: 6) == 0 ? nil : random.pick(words)
  }

  static func vectorClock(
    _ clock: inout VectorClock, _ device: DeviceID,
    _ random: inout SeededRandom
  ) -> VectorClock {
    let dot = Dot(device, clock[device] + UInt64(random.number(below: 3)))
    clock.advance(to: dot)
    return VectorClock(dot)
  }

  static func causalContext(
    _ context: inout CausalContext, _ device: DeviceID,
    _ random: inout SeededRandom
  ) -> CausalContext {
    let dots = (0..<random.number(below: 3)).map { _ in
      Dot(
        DeviceID(UInt64(random.number(below: 3))),
        UInt64(random.number(below: 8)))
    }
    let delta = CausalContext(dots: dots)
    context.merge(delta)
    return delta
  }

  static func lwwRegister(
    _ register: inout LWWRegister<String>, _ device: DeviceID,
    _ random: inout SeededRandom
  ) throws -> LWWRegister<String> {
    try register.write(word(&random), on: device, at: random.timestamp())
  }

  static func mvRegister(
    _ register: inout MVRegister<String>, _ device: DeviceID,
    _ random: inout SeededRandom
  ) -> MVRegister<String> {
    register.write(word(&random), on: device, at: random.timestamp())
  }

  /// The author observed an earlier state of the register.
  static func observedMVRegister(
    _ register: inout MVRegister<String>, _ device: DeviceID,
    _ random: inout SeededRandom
  ) -> MVRegister<String> {
    let time = random.number(below: 8) == 0 ? .max : random.timestamp()
    let observed = prefix(of: register.clock, &random)
    return register.write(
      word(&random), on: device, at: time, observed: observed)
  }

  static func counter(
    _ counter: inout PNCounter, _ device: DeviceID,
    _ random: inout SeededRandom
  ) throws -> PNCounter {
    let amount = random.number(below: 10)
    switch random.number(below: 7) {
    case 0: return counter.reset()
    case 6:
      counter.turn(turns(of: counter.decisions, &random))
      return counter
    case 1: return try counter.set(to: Int64(amount - 5), on: device)
    case 2: return try counter.decrement(by: UInt64(amount), on: device)
    default: return try counter.increment(by: UInt64(amount), on: device)
    }
  }

  static func set(
    _ set: inout ORSet<String>, _ device: DeviceID,
    _ random: inout SeededRandom
  ) -> ORSet<String> {
    let word = random.pick(words)
    return random.number(below: 3) == 0
      ? set.remove(word, on: device) : set.insert(word, on: device)
  }

  /// A fold does not have a delta, because other replicas do not need it.
  static func ledger(
    _ ledger: inout Ledger, _ device: DeviceID, _ random: inout SeededRandom
  ) -> Ledger {
    if random.number(below: 3) > 0 {
      let amount = Int64(random.number(below: 100)) - 50
      return ledger.append(amount, on: device, at: random.timestamp())
    }
    switch random.number(below: 3) {
    case 0: ledger.cancel()
    case 1:
      ledger.turn(turns(of: ledger.decisions, &random))
    default:
      ledger.fold(upTo: prefix(of: ledger.counts, &random))
      return Ledger()
    }
    return ledger
  }

  /// Returns a random clock that `clock` contains.
  static func prefix(
    of clock: VectorClock, _ random: inout SeededRandom
  ) -> VectorClock {
    var part = VectorClock()
    for entry in clock.entries {
      part[entry.device] = UInt64(random.number(below: Int(entry.count) + 1))
    }
    return part
  }
}
