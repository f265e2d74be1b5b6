// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// Devices that follow a script, and an oracle that tracks the saves of each
/// device.
///
/// After every step, the device that it changes must show the state that the
/// oracle derives.
public struct World<Replica: TestedReplica> {
  /// A replica and the oracle's model of it.
  struct Peer {
    var replica: Replica
    var model: OracleReplica
    /// The wall clock, in milliseconds since 1970.
    var now: Int64 = 0
    /// The greatest sequence numbers, under the device's own IDs, that peers
    /// sent.
    ///
    /// The own IDs include the pull devices.
    var shownOwn = VectorClock()
    /// Whether a peer sent an own save that the device did not have.
    ///
    /// In that case, its next save must take a new device ID.
    var needsNewDeviceID = false
    /// The indices of the device's own saves, in order.
    var chain: [Int] = []
    /// The devices of the installation's saves, as far as this storage and its
    /// token can know them.
    var ownDevices: Set<DeviceID> = []
    /// The indices of the saves that were made in this storage.
    var authored: Set<Int> = []
    /// The device's clock after its last undoable save of verbs.
    var lastSaved = VectorClock()
    /// The parts of transfers that arrived.
    var parts: Set<Replica.Message> = []
    /// Whether the last restore went back to another point of a transfer.
    var isInEarlierTransfer = false
  }

  /// A token, and the saves and pulls of its device at that time.
  struct StoredToken {
    let token: Replica.Token
    let device: DeviceID
    let chain: [Int]
    let pulls: UInt64
    let ownDevices: Set<DeviceID>
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
  /// The state of a peer at the end of a device's last call, by device and peer.
  var hints: [[Int]: ShownReplica] = [:]
  /// The last token of each device, which no backup contains.
  var tokens: [Int: StoredToken] = [:]
  /// The last exported save of each device.
  var sent = VectorClock()
  /// The device IDs of imported rows, by their content.
  var imports: [OracleSave: DeviceID] = [:]
  /// The devices whose storage was restored or copied without being detected.
  var suspects: Set<DeviceID> = []
  /// The devices whose later saves reached, in a delta, a replica that uses the
  /// same ID.
  ///
  /// After that, the replica's deltas report them as forked.
  var exposed: Set<DeviceID> = []
  /// The indices of the saves with each dot, to find equivocations.
  var indices: [Dot: Set<Int>] = [:]
  /// The dots that two different saves share.
  public internal(set) var collisions: Set<Dot> = []
  /// The first sequence number of each device that two of its saves share.
  var firstCollisions: [DeviceID: UInt64] = [:]
  /// The records that saves with an ambiguous dot touched.
  ///
  /// A replica may show either of the saves that share a dot.
  var undecidable: Set<RecordID> = []
  /// The saves of each device before a backup replaced its storage.
  var forgotten: [DeviceID: VectorClock] = [:]
  /// The indices of the saves that purged records.
  var purges: Set<Int> = []
  /// Whether purges must not change what the devices show.
  ///
  /// The law does not hold for retired devices, restored backups, imported rows
  /// and devices that a purge did not know.
  var hasPurgeLaw = true
  /// The devices that were not on the roster of a device that purged.
  var unlisted: Set<DeviceID> = []
  /// The devices that knew each other at some moment, and their saves then.
  var introduction: (devices: Set<DeviceID>, clock: VectorClock)?
  /// Whether a device received a forged version, which may claim too little.
  var isMisled = false
  /// The clocks of the authors of saves when they made them.
  var authorClocks: [Int: VectorClock] = [:]
  /// The indices of the saves that retired devices.
  var retirements: Set<Int> = []
  /// The records that the current step touches.
  var touched: Set<RecordID> = []
  /// The counts so far.
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

  /// Runs a script from the start.
  ///
  /// - Returns: The counts of the run.
  /// - Throws: The first difference between a replica and the oracle.
  @discardableResult
  public static func run(
    _ script: Script, universe: ScriptUniverse = .standard
  ) throws(ScriptMismatch) -> WorldCounts {
    try ran(script, universe: universe).counts
  }

  /// The contents of every device, which are equal for devices with the same
  /// saves.
  public var contents: [Replica.Contents] { peers.map(\.replica.contents) }

  /// Returns the world after a script.
  // Specialized for callers in other modules, as `Explorer.search` is.
  @_specialize(where Replica == ReplicaUnderTest)
  @_specialize(where Replica == FragmentingReplica)
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

/// Counts of saves that are based on an earlier state: a fetched one, or that
/// of an undone save.
public struct LateSaves: Hashable, Sendable {
  /// The number of saves.
  public internal(set) var count = 0
  /// The number of saves whose device made or received a purge in between.
  public internal(set) var metPurges = 0
  /// The number of saves whose device made or received a retirement in between.
  public internal(set) var metRetirements = 0
  /// The number of saves with a purge, a retirement or both in between.
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

/// Counts of the actions and checks of a run.
public struct WorldCounts: Hashable, Sendable {
  /// The number of saves.
  public internal(set) var saves = 0
  /// The undos and redos.
  public internal(set) var undoings = LateSaves()
  /// The saves of editing contexts.
  public internal(set) var contextSaves = LateSaves()
  /// The number of messages that were applied.
  public internal(set) var deliveries = 0
  /// The number of messages that left a gap.
  public internal(set) var gaps = 0
  /// The number of fragments that were accepted.
  public internal(set) var fragments = 0
  /// The number of fragments that were refused, at least in part.
  public internal(set) var refusedFragments = 0
  /// The number of intervals that were blocked by refused saves.
  public internal(set) var waits = 0
  /// The counts of parts of transfers.
  public internal(set) var parts = PartCounts()
  /// The counts of calls of `sync`.
  public internal(set) var calls = CallCounts()
  /// The number of restored backups.
  public internal(set) var restores = 0
  /// The number of undetected restores.
  public internal(set) var unnoticedRestores = 0
  /// The number of restores after which the token showed that no sent save was
  /// lost.
  public internal(set) var crashes = 0
  /// The number of checks that one delta is enough despite fields ahead.
  public internal(set) var loops = 0
  /// The number of times that a stability cut rose.
  public internal(set) var cuts = 0
  /// The number of purges that announced or dropped content.
  public internal(set) var purges = 0
  /// The number of records that were compared with those without purges, after
  /// a purge dropped content.
  public internal(set) var purgeLaws = 0
  /// The number of retired devices that returned.
  public internal(set) var returns = 0
  /// The number of pulls with new rows.
  public internal(set) var pulls = 0
  /// The number of refused attempts to restore a purged record.
  public internal(set) var refusals = 0
  /// The number of new devices that started from another device's state.
  public internal(set) var forks = 0
  /// The number of dots that two different saves shared.
  public internal(set) var collisions = 0
  /// The number of comparisons with the oracle.
  public internal(set) var checks = 0

  /// Creates counts of zero.
  public init() {}

  /// Adds the counts of another run.
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
    a.calls += b.calls
    a.restores += b.restores
    a.unnoticedRestores += b.unnoticedRestores
    a.crashes += b.crashes
    a.loops += b.loops
    a.cuts += b.cuts
    a.purges += b.purges
    a.purgeLaws += b.purgeLaws
    a.returns += b.returns
    a.pulls += b.pulls
    a.refusals += b.refusals
    a.forks += b.forks
    a.collisions += b.collisions
    a.checks += b.checks
  }
}
