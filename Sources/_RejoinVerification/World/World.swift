// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// Devices that follow a script, beside an oracle that tracks which device has which
/// saves.
///
/// After every step the device it concerns must show what the oracle derives.
public struct World<Replica: TestedReplica> {
  /// A device: its replica, and the oracle's model of it.
  struct Peer {
    var replica: Replica
    var model: OracleReplica
    /// The wall clock, in milliseconds since 1970.
    var now: Int64 = 0
    /// The greatest sequence numbers that peers have shown for this device ID, and
    /// for those it uses for servers.
    var shownOwn = VectorClock()
    /// Whether a peer has shown more than the device had, so that its next save
    /// must take a new device ID.
    var needsNewDeviceID = false
    /// The places of the device's own saves, in their order.
    var chain: [Int] = []
    /// The places of the saves that were made in this storage.
    var authored: Set<Int> = []
    /// The saves that were here at the last save that can be undone.
    var lastSaved = VectorClock()
    /// The parts of transfers that arrived.
    var parts: Set<Replica.Message> = []
    /// Whether a backup was put back that is of another time of a transfer.
    var isInEarlierTransfer = false
  }

  /// A token, and the saves and pulls that its device has made until then.
  struct StoredToken {
    let token: Replica.Token
    let device: DeviceID
    let chain: [Int]
    let pulls: UInt64
  }

  /// A message, and its expected content.
  struct Letter {
    let message: Replica.Message
    let model: OracleDelta
  }

  /// A record as an editing context shows it.
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
  /// The devices whose storage was restored or copied without being detected.
  var suspects: Set<DeviceID> = []
  /// The devices of which a delta showed later saves to a replica that saves as
  /// them.
  ///
  /// From then on, its deltas mark them as forked.
  var exposed: Set<DeviceID> = []
  /// The saves with each dot, to find equivocations.
  var places: [Dot: Set<Int>] = [:]
  /// The dots that two different saves share.
  public internal(set) var collisions: Set<Dot> = []
  /// For each device, the first sequence number that two of its saves share.
  var firstCollisions: [DeviceID: UInt64] = [:]
  /// The records touched by saves that may share a dot with another save, so that
  /// a replica may show either.
  var undecidable: Set<RecordID> = []
  /// For each device, what it had when a backup replaced its storage.
  var forgotten: [DeviceID: VectorClock] = [:]
  /// The places of the saves that purged records.
  var purges: Set<Int> = []
  /// The places of the saves that retired devices.
  var retirements: Set<Int> = []
  /// The records that the step in hand has touched.
  var touched: Set<RecordID> = []
  /// What has been done so far.
  public internal(set) var counts = WorldCounts()
  /// A digest of all readings, equal in every process.
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

  /// What every device holds, as devices with the same saves agree on it.
  public var contents: [Replica.Contents] { peers.map(\.replica.contents) }

  /// The world after a script.
  public static func ran(
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

/// Saves that are based on an earlier state: that of a fetch, or of the save that
/// is undone.
public struct LateSaves: Hashable, Sendable {
  /// The number of saves.
  public internal(set) var count = 0
  /// The saves whose device made a purge, or learned of one, in between.
  public internal(set) var metPurges = 0
  /// The saves whose device learned of a retirement in between.
  public internal(set) var metRetirements = 0
  /// The saves that met a purge, a retirement or both.
  public internal(set) var met = 0

  static func += (a: inout LateSaves, b: LateSaves) {
    a.count += b.count
    a.metPurges += b.metPurges
    a.metRetirements += b.metRetirements
    a.met += b.met
  }
}

extension LateSaves: CustomStringConvertible {
  /// The counts as part of a line.
  public var description: String {
    "\(count) (\(metPurges) met a purge, \(metRetirements) a retirement)"
  }
}

/// What has been done and checked.
public struct WorldCounts: Hashable, Sendable {
  /// The saves.
  public internal(set) var saves = 0
  /// Those that undo another, or redo it.
  public internal(set) var undoings = LateSaves()
  /// The saves of editing contexts.
  public internal(set) var contextSaves = LateSaves()
  /// The messages that were applied.
  public internal(set) var deliveries = 0
  /// The messages that left a gap.
  public internal(set) var gaps = 0
  /// The fragments that were taken.
  public internal(set) var fragments = 0
  /// The fragments that were refused, at least in part.
  public internal(set) var refusedFragments = 0
  /// The intervals that waited for something that was refused.
  public internal(set) var waits = 0
  /// The parts of transfers.
  public internal(set) var parts = PartCounts()
  /// The backups that were restored.
  public internal(set) var restores = 0
  /// Those that were not detected, on the same machine or on another.
  public internal(set) var unnoticedRestores = 0
  /// Those for which the token showed that no sent save was lost.
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
  /// The refused attempts to restore a purged record.
  public internal(set) var refusals = 0
  /// The new devices that started from another's state.
  public internal(set) var forks = 0
  /// The dots that two different saves shared.
  public internal(set) var collisions = 0
  /// The comparisons with the oracle.
  public internal(set) var checks = 0

  /// Creates counts of nothing.
  public init() {}

  /// Adds what was done elsewhere.
  public static func += (a: inout WorldCounts, b: WorldCounts) {
    a.saves += b.saves
    a.undoings += b.undoings
    a.contextSaves += b.contextSaves
    a.deliveries += b.deliveries
    a.gaps += b.gaps
    a.fragments += b.fragments
    a.refusedFragments += b.refusedFragments
    a.waits += b.waits
    a.parts += b.parts
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
