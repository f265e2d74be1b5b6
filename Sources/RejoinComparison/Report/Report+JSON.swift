// SPDX-License-Identifier: Apache-2.0

extension Report {
  /// One JSON object on one line.
  ///
  /// Programs read it: the keys and their order must not change.
  var json: String {
    let strategies = result.strategies.map(object).joined(separator: ",")
    let name = name.map { "\"name\":\"\($0)\"," } ?? ""
    return
      "{\(name)\"episodes\":\(result.episodes),\"strategies\":[\(strategies)]}\n"
  }

  private func object(_ strategy: StrategyResult) -> String {
    let losses = strategy.losses
    let counts: [(String, Int)] = [
      ("episodes", strategy.episodes), ("lossless", strategy.lossless),
      ("losslessIfDeletionsWin", strategy.losslessIfDeletionsWin),
      ("plainEpisodes", strategy.plain.episodes),
      ("plainLossless", strategy.plain.lossless), ("lost", losses.lost),
      ("silentlyLost", losses.silent),
      ("excess", losses.excess), ("onlyReported", losses.reported),
      ("unrecoverable", losses.unrecoverable),
      ("counterUnits", losses.counterUnits), ("addsLost", losses.addsLost),
      ("removesUndone", losses.removesUndone),
      ("recordsWrong", losses.recordsWrong),
      ("neverAgree", losses.neverAgree),
    ]
    var members = [
      "\"name\":\"\(strategy.name)\"", "\"rule\":\"\(strategy.rule)\"",
    ]
    members += counts.map { "\"\($0)\":\($1)" }
    members +=
      agreement(strategy.agreement).map { ["\"agreement\":\($0)"] } ?? []
    return "{" + members.joined(separator: ",") + "}"
  }

  private func agreement(_ agreement: Agreement) -> String? {
    let shares = [("all", agreement.all), ("person", agreement.person)]
    let members = shares.compactMap { name, share in
      share.records == 0
        ? nil
        : "\"\(name)\":{\"fields\":\(share.ofFields),"
          + "\"records\":\(share.ofRecords)}"
    }
    return members.isEmpty ? nil : "{" + members.joined(separator: ",") + "}"
  }
}
