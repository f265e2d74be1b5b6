// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinTesting

/// A planner that derives the script of a simulation from a seed.
struct SimulationPlanner {
  /// An event in a simulation.
  enum Event {
    /// A user uses a device.
    case session(Int)
    /// A message arrives.
    case arrival(message: Int, at: Int)
    /// A user saves the edits of a context.
    case commit(context: Int, on: Int, RecordID)
    /// A backup is restored.
    case restore(Int, from: Int, with: ScriptToken)
    /// A day starts, and the network changes.
    case dawn
  }

  static let minute: Int64 = 60_000
  static let day: Int64 = 24 * 60 * minute
  /// The start of every simulation, in milliseconds since 1970.
  static let beginning: Int64 = 1_700_000_000_000

  var random: SeededRandom
  let faults: SimulatedFaults
  let universe: ScriptUniverse
  var verbs: ScriptGenerator
  var script: Script
  var timeline = Timeline<Event>()
  var now = beginning
  /// The wall clocks, and their readings in the script.
  var clocks: [SimulatedClock] = []
  var shown: [Int64?] = []
  /// The return times of absent devices.
  var absences: [Int: Int64] = [:]
  /// The devices on one side of a partition of the network.
  var side: Set<Int> = []
  var messages = 0
  var backups = 0
  /// The backup that each device stored last.
  var lastBackups: [Int: Int] = [:]
  var contexts = 0
  /// The number of remaining steps, not counting changes of clocks.
  var rest: Int

  init(seed: UInt64, scale: SimulationScale, universe: ScriptUniverse) {
    var random = SeededRandom(seed: seed)
    faults = SimulatedFaults(&random)
    let count = random.pick(Array(scale.devices))
    rest = random.pick(Array(scale.steps))
    script = Script(deviceCount: count)
    verbs = ScriptGenerator(
      seed: random.next(), devices: count, universe: universe)
    (self.random, self.universe) = (random, universe)
    for _ in 0..<count { addDevice() }
    timeline.plan(.dawn, at: now)
  }

  /// The current number of devices.
  var deviceCount: Int { clocks.count }

  mutating func addDevice() {
    let isWrong = random.chance(percent: faults.wrongClocks)
    clocks.append(SimulatedClock(isWrong: isWrong, &random))
    shown.append(nil)
    planSession(of: clocks.count - 1)
  }

  mutating func planSession(of i: Int) {
    timeline.plan(.session(i), at: later(upTo: 4 * Self.day))
  }

  /// Returns a random time within a span from now.
  mutating func later(upTo span: Int64) -> Int64 {
    now + Int64(random.number(below: Int(span)))
  }

  mutating func plan() -> Script {
    while rest > 0, let next = timeline.next() {
      now = next.time
      happen(next.event)
    }
    return script
  }

  private mutating func happen(_ event: Event) {
    switch event {
    case .session(let i): use(i)
    case .arrival(let k, let i): arrive(k, at: i)
    case .commit(let k, let i, let id): commit(k, on: i, about: id)
    case .restore(let i, let k, let token):
      add(.restore(i, from: k, with: token), by: i)
    case .dawn:
      let isParted = random.chance(percent: faults.partitions)
      side = []
      for i in 0..<deviceCount where isParted && random.chance(percent: 50) {
        side.insert(i)
      }
      timeline.plan(.dawn, at: now + Self.day)
    }
  }

  /// Adds a step of a device, after setting its wall clock to the current
  /// reading.
  mutating func add(_ step: ScriptStep, by i: Int) {
    let reading = clocks[i].read(at: now, &random)
    if shown[i] != reading {
      script.steps.append(.setClock(of: i, to: reading))
      shown[i] = reading
    }
    script.steps.append(step)
    rest -= 1
  }

  /// Returns whether a device can currently send messages to another device.
  func isConnected(_ i: Int, _ j: Int) -> Bool {
    side.contains(i) == side.contains(j) && absences[j, default: 0] <= now
  }
}
