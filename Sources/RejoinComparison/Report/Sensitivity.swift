// SPDX-License-Identifier: Apache-2.0

/// A table that shows how losses depend on the seed and on contention.
package struct Sensitivity: Sendable {
  /// A run with other parameters.
  package struct Run: Sendable {
    let heading: String
    /// The parameters.
    package let workload: Workload
  }

  private let name: String
  private var columns: [(heading: String, result: ComparisonResult)] = []

  /// Creates an empty table.
  ///
  /// - Parameter name: The name of the workload, with a remark if it is not a
  ///   rate.
  package init(_ name: String) { self.name = name }

  /// Returns the runs of a workload, with three seeds and three shares of
  /// contention.
  ///
  /// Contention is the share of edits that also change one field shared by all
  /// devices.
  ///
  /// - Parameter isRate: Whether the losses are a rate, which depends on
  ///   contention. If `false`, only the seed differs.
  package static func runs(of workload: Workload, isRate: Bool) -> [Run] {
    let seeds = (1...3).map { step in
      var other = workload
      other.seed = workload.seed &+ UInt64(step - 1)
      return Run(heading: "seed \(other.seed)", workload: other)
    }
    guard isRate else { return seeds }
    let shares = [0.05, 0.25, 1].map { share in
      var other = workload
      other.contention = share
      let percent = Int((share * 100).rounded())
      return Run(heading: "meeting\nin \(percent)%", workload: other)
    }
    return seeds + shares
  }

  /// Adds the result of a run.
  package mutating func add(_ result: ComparisonResult, of run: Run) {
    columns.append((run.heading, result))
  }

  /// The share of changes lost by each strategy in each run.
  package var table: TextTable {
    var table = TextTable(
      header: ["\(name): changes lost"] + columns.map(\.heading))
    let strategies = columns.first?.result.strategies ?? []
    table.rows = strategies.indices.map { index in
      [.init(text: strategies[index].name)]
        + columns.map { column in
          let losses = column.result.strategies[index].losses
          return .init(text: losses.lost.percent(of: losses.changes))
        }
    }
    table.isNameAlone = true
    var grouped = table.grouped
    let met = columns.map { column in
      let contention = column.result.contention
      return contention.contested.percent(of: contention.touched)
    }
    grouped.rows.insert(
      [.init(text: "touched fields that met")] + met.map { .init(text: $0) },
      at: 0)
    return grouped
  }
}
