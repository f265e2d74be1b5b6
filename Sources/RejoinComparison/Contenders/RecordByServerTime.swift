// SPDX-License-Identifier: Apache-2.0

/// Last write wins for the whole record, in the order of arrival at the server.
///
/// Every device uploads its whole copy or a deletion, regardless of its clock.
struct RecordByServerTime: Contender {
  let name = "recordByServerTime"
  let rule = "the whole record that arrives last at the server wins"
  let source = Source.article

  func outcome(of episode: Episode) -> Outcome {
    Outcome(everywhere: episode.uploads.last.map(\.after) ?? episode.base)
  }
}
