// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinTesting

/// Works out what happens in a simulation.
struct SimulationPlanner {
  /// What happens at one time.
  enum Event {
    /// Somebody uses a device.
    case session(Int)
    /// A message arrives.
    case arrival(message: Int, at: Int)
    /// Somebody saves what was being edited.
    case commit(context: Int, on: Int, RecordID)
    /// A backup is put back.
    case restore(Int, from: Int, with: ScriptToken)
    /// The network changes.
    case dawn
  }

  static let minute: Int64 = 60_000
  static let day: Int64 = 24 * 60 * minute
  /// When simulations begin, in milliseconds since 1970.
  static let beginning: Int64 = 1_700_000_000_000

  var random: SeededRandom
  let faults: SimulatedFaults
  let universe: ScriptUniverse
  var verbs: ScriptGenerator
  var script: Script
  var timeline = Timeline<Event>()
  var now = beginning
  /// The wall clocks, and what they were last set to.
  var clocks: [SimulatedClock] = []
  var shown: [Int64?] = []
  /// When devices come back that are away.
  var absences: [Int: Int64] = [:]
  /// The devices on one side of the network, while it is in halves.
  var side: Set<Int> = []
  var messages = 0
  var backups = 0
  /// The state that each device stored last.
  var stored: [Int: Int] = [:]
  var contexts = 0
  /// The steps still to be done, settings of clocks aside.
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

  /// The number of devices so far.
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

  /// A time from now on.
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

  /// Adds a step of a device, at what its wall clock shows.
  mutating func add(_ step: ScriptStep, by i: Int) {
    let reading = clocks[i].read(at: now, &random)
    if shown[i] != reading {
      script.steps.append(.setClock(of: i, to: reading))
      shown[i] = reading
    }
    script.steps.append(step)
    rest -= 1
  }

  /// Whether a message can go from one device to another now.
  func isConnected(_ i: Int, _ j: Int) -> Bool {
    side.contains(i) == side.contains(j) && absences[j, default: 0] <= now
  }
}
