// SPDX-License-Identifier: Apache-2.0

/// Last write wins, record by record, by the server's time: the copy that arrives
/// last replaces the whole record, a deletion included.
///
/// Every device uploads its whole copy, whatever its clock says.
struct RecordByServerTime: Contender {
  let name = "recordByServerTime"
  let rule = "the whole record that arrives last at the server wins"
  let source = Source.article

  func outcome(of episode: Episode) -> Outcome {
    Outcome(everywhere: episode.uploads.last.map(\.after) ?? episode.base)
  }
}
