// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import Testing

/// Slots of registers, which are stored and changed more simply than states.
@Suite struct FieldSlotTests {
  /// Applies random saves of three devices.
  ///
  /// Some authors saw an older state.
  @Test func slotAppliesSavesAsState() {
    var superseded = 0
    for seed in 0..<500 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      var numbers: [UInt64: UInt64] = [:]
      var (slot, state) = (FieldSlot(1, .register), FieldState(.register))
      var past = [state]
      for _ in 0..<12 {
        let device = UInt64(random.number(below: 3))
        numbers[device, default: 0] += 1
        let dot = Dot(DeviceID(device), numbers[device]!)
        if random.number(below: 5) == 0 {
          // A concurrent write that another replica merged.
          var other = random.pick(past)
          _ = other.apply(Self.save(at: dot, &random))
          slot.update { $0.merge(other) }
          state.merge(other)
        } else {
          var save = Self.save(at: dot, &random)
          if random.number(below: 3) == 0 { save.observed = random.pick(past) }
          if random.number(below: 6) == 0 {
            save.retraction = Retraction(dot: state.writes.first?.dot)
          }
          let report = slot.apply(save)
          #expect(report == state.apply(save), "seed \(seed)")
          superseded += report.count
        }
        #expect(slot.state == state, "seed \(seed)")
        #expect(slot.clock == state.clock && slot.write == state.winner)
        // Equality ignores the sign of zero.
        if case .double(let zero) = slot.value { #expect(zero.sign == .plus) }
        past.append(state)
      }
    }
    #expect(superseded > 0)
  }

  private static func save(
    at dot: Dot, _ random: inout SeededRandom
  ) -> EditContext {
    var save = EditContext(
      dot: dot,
      time: random.number(below: 8) == 0 ? .max : random.timestamp())
    save.drops = random.number(below: 8) == 0
    if random.number(below: 6) > 0 {
      save.edit = .write(
        random.pick([nil, .double(-0.0), .string("a"), .string("b")]))
    }
    return save
  }
}

extension FieldState {
  fileprivate var winner: Siblings<Stamped>.Element? {
    store(of: Siblings<Stamped>.self)?.winner
  }
}
