// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// The expected readings of a replica with known saves.
struct ReplicaFacts {
  private let clock: VectorClock
  private let latest: UInt64
  private var records: [(id: RecordID, exists: Bool)] = []
  private var fields: [(location: FieldLocation, reading: FieldReading)] = []

  init(_ model: OracleReplica, in universe: ScriptUniverse) {
    (clock, latest) = (model.clock, model.knowledge.latest)
    records = universe.records.map { ($0, model.exists($0)) }
    fields = universe.locations.map { ($0, model.reading(of: $0)) }
  }

  /// Compares a replica with the expected readings.
  func check(
    _ replica: some TestedReplica, named name: String
  ) throws(ScriptMismatch) {
    try agree("clock of \(name)", replica.version.vectorClock, clock)
    if let shown = replica.latest {
      try agree("hybrid clock of \(name)", shown.rawValue, latest)
    }
    for (id, exists) in records {
      try agree("\(id) exists on \(name)", replica.exists(id), exists)
    }
    try replica.checkListing(records.map(\.id), pages: false, named: name)
    for (location, reading) in fields {
      try agree(
        "\(location) on \(name)", replica.reading(of: location), reading)
    }
  }
}
