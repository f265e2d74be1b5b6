// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// Devices that follow a script, each watched by an oracle that keeps account of
/// who has heard of which save.
///
/// After every step the device that it was about must show what the oracle says.
public struct World<Replica: TestedReplica> {
  /// A device: its replica, and what must be true of it.
  struct Peer {
    var replica: Replica
    var model: OracleReplica
    /// The wall clock, in milliseconds since 1970.
    var now: Int64 = 0
    /// The last saves of this device, and of those that it has for servers, that
    /// anybody has shown to it.
    var shownOwn = VectorClock()
    /// Whether that was more than the device had, so that its next save must be
    /// another's.
    var needsNewDeviceID = false
    /// The places of the device's own saves, in their order.
    var chain: [Int] = []
    /// The places of the saves that were made in this storage.
    var authored: Set<Int> = []
  }

  /// A token, and the saves of the device up to the one that it names.
  struct StoredToken {
    let token: Replica.Token
    let device: DeviceID
    let chain: [Int]
  }

  /// A message, and what must be in it.
  struct Letter {
    let message: Replica.Message
    let model: OracleDelta
  }

  /// A record as somebody was shown it.
  struct Context {
    let peer: Int
    let id: RecordID
    let shown: Replica.Fetched
    let model: OracleReplica
  }

  let universe: ScriptUniverse
  let history: OracleHistory
  let names = DeviceNames()
  var peers: [Peer] = []
  var letters: [Int: Letter] = [:]
  var backups: [Int: Peer] = [:]
  var contexts: [Int: Context] = [:]
  /// The tokens that were stored last, which no backup reaches.
  var tokens: [Int: StoredToken] = [:]
  /// The last saves of each device that have left it.
  var sent = VectorClock()
  /// The devices that stand for rows that were brought in, by these.
  var imports: [OracleSave: DeviceID] = [:]
  /// The devices whose storage was put back, or copied, and nobody noticed.
  var suspects: Set<DeviceID> = []
  /// The devices of which somebody who saves under them has been shown later saves:
  /// from then on it says so to all others who do.
  var exposed: Set<DeviceID> = []
  /// The dots of all saves, to find those that two saves share.
  var places: [Dot: Set<Int>] = [:]
  /// The dots that two different saves share.
  public internal(set) var collisions: Set<Dot> = []
  /// Of each device the first number that two of its saves share.
  var firstCollisions: [DeviceID: UInt64] = [:]
  /// The records touched by saves whose name another save may have too, so that
  /// only one of the two need be seen.
  var undecidable: Set<RecordID> = []
  /// What devices knew when a backup took the place of their storage.
  var forgotten: [DeviceID: VectorClock] = [:]
  /// The records that the step in hand has touched.
  var touched: Set<RecordID> = []
  /// What has been done so far.
  public internal(set) var counts = WorldCounts()
  /// A digest of everything that has been read, the same in every process.
  var trace = Digest()

  /// Creates devices without any saves.
  public init(deviceCount: Int, universe: ScriptUniverse = .standard) {
    self.universe = universe
    history = OracleHistory(schema: universe.schema)
    for _ in 0..<deviceCount { addPeer() }
  }

  private mutating func addPeer() {
    let number = peers.count
    let device = names.device(number)
    let replica = Replica(
      device: device, schema: universe.schema,
      makeDeviceID: { [names] in names.renew(number) })
    peers.append(
      Peer(
        replica: replica,
        model: OracleReplica(device, history: history)))
  }

  /// Runs a script from the beginning.
  ///
  /// - Returns: What has been done.
  /// - Throws: The first thing in which a replica differs from the oracle.
  @discardableResult
  public static func run(
    _ script: Script, universe: ScriptUniverse = .standard
  ) throws(ScriptMismatch) -> WorldCounts {
    try ran(script, universe: universe).counts
  }

  /// The world after a script.
  static func ran(
    _ script: Script, universe: ScriptUniverse = .standard
  ) throws(ScriptMismatch) -> World {
    var world = World(deviceCount: script.deviceCount, universe: universe)
    for (number, step) in script.steps.enumerated() {
      do throws(ScriptMismatch) { try world.perform(step) } catch {
        throw error.at(step: number)
      }
    }
    try world.settle()
    return world
  }
}

/// What has been done and checked.
public struct WorldCounts: Hashable, Sendable {
  /// The saves.
  public internal(set) var saves = 0
  /// The messages that were joined.
  public internal(set) var deliveries = 0
  /// The messages that left a gap.
  public internal(set) var gaps = 0
  /// The backups that were put back.
  public internal(set) var restores = 0
  /// Those that nobody noticed, on the same machine or on another.
  public internal(set) var unnoticedRestores = 0
  /// Those after which the token told that no save was lost that had been sent.
  public internal(set) var crashes = 0
  /// The fields ahead of a clock after which one delta was enough.
  public internal(set) var loops = 0
  /// The times that a stability cut rose.
  public internal(set) var cuts = 0
  /// The purges that dropped something.
  public internal(set) var purges = 0
  /// The retired devices that came back.
  public internal(set) var returns = 0
  /// The rows of servers that were new.
  public internal(set) var pulls = 0
  /// The records that were to be brought back, and that a purge had dropped.
  public internal(set) var refusals = 0
  /// The new devices that began with another's state.
  public internal(set) var forks = 0
  /// The dots that two different saves shared.
  public internal(set) var collisions = 0
  /// The comparisons with the oracle.
  public internal(set) var checks = 0

  /// Adds what was done elsewhere.
  public static func += (a: inout WorldCounts, b: WorldCounts) {
    a.saves += b.saves
    a.deliveries += b.deliveries
    a.gaps += b.gaps
    a.restores += b.restores
    a.unnoticedRestores += b.unnoticedRestores
    a.crashes += b.crashes
    a.loops += b.loops
    a.cuts += b.cuts
    a.purges += b.purges
    a.returns += b.returns
    a.pulls += b.pulls
    a.refusals += b.refusals
    a.forks += b.forks
    a.collisions += b.collisions
    a.checks += b.checks
  }
}
