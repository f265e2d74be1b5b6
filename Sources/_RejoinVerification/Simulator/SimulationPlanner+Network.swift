// SPDX-License-Identifier: Apache-2.0
import Rejoin

// Messages between devices.
extension SimulationPlanner {
  /// Sends a device's unseen changes to another device, if the two are
  /// connected.
  mutating func sendChanges(from i: Int) {
    let j = other(than: i)
    guard isConnected(i, j) else { return }
    switch random.number(below: 10) {
    case 0..<2: add(.sync(from: i, to: j), by: j)
    case 2..<4: call(from: i, to: j)
    case 4: add(.merge(from: i, into: j), by: j)
    case 5 where random.chance(percent: 60): transfer(from: i, to: j)
    default: send(from: i, to: j)
    }
  }

  /// Calls a device in parts of one record or of all, possibly until the line
  /// breaks.
  private mutating func call(from i: Int, to j: Int) {
    let isCut = random.chance(percent: faults.losses)
    add(
      .call(
        from: i, to: j, byteLimit: random.pick([1, 1, 1 << 18]),
        messages: isCut ? random.number(below: 6) : nil), by: j)
  }

  /// Sends parts of a transfer until the connection breaks.
  private mutating func transfer(from i: Int, to j: Int) {
    repeat {
      let k = messages
      messages += 1
      add(.writePart(on: i, since: j, byteLimit: 1, message: k), by: i)
      // The next part continues from the receiver's state at that time.
      if random.chance(percent: faults.losses) { return }
      add(.deliver(message: k, to: j), by: j)
      if random.chance(percent: faults.duplicates) { post(k, to: j) }
    } while random.chance(percent: 50)
  }

  private mutating func send(from i: Int, to j: Int) {
    let k = messages
    messages += 1
    add(.write(on: i, since: basis(for: j), message: k), by: i)
    if random.chance(percent: faults.splits) {
      messages += 2
      add(.split(message: k, into: k + 1, k + 2), by: i)
      if random.chance(percent: faults.lostHalves) {
        return post(k + 1 + random.number(below: 2), to: j)
      }
      post(k + 1, to: j)
      post(k + 2, to: j)
    }
    post(k, to: j)
    if random.chance(percent: faults.relays) { post(k, to: other(than: i)) }
  }

  /// Returns the device whose clock is the basis of a message, or `nil` for an
  /// empty basis.
  private mutating func basis(for j: Int) -> Int? {
    guard random.chance(percent: faults.wrongBases) else { return j }
    return random.chance(percent: 30) ? nil : other(than: j)
  }

  /// Plans the arrivals of a message, unless it is lost.
  private mutating func post(_ k: Int, to j: Int) {
    if random.chance(percent: faults.losses) { return }
    let copies =
      random.chance(percent: faults.duplicates)
      ? 2 + random.number(below: 2) : 1
    for _ in 0..<copies {
      timeline.plan(.arrival(message: k, at: j), at: delivery())
    }
  }

  private mutating func delivery() -> Int64 {
    guard random.chance(percent: faults.delays) else {
      return later(upTo: Self.minute)
    }
    return later(upTo: random.chance(percent: 70) ? Self.day : 30 * Self.day)
  }

  /// Delivers a message, or postpones it until its receiver returns.
  mutating func arrive(_ k: Int, at j: Int) {
    if let end = absences[j], end > now {
      timeline.plan(.arrival(message: k, at: j), at: end)
    } else {
      add(.deliver(message: k, to: j), by: j)
    }
  }
}
