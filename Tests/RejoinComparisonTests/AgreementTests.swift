// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct AgreementTests {
  private func agreement(
    _ state: PlainRecord?, _ resolution: Episode.Resolution?,
    by resolver: Episode.Resolver = .textMerge
  ) -> Agreement {
    var episode = Episode(
      ["x": .text("old"), "z": .text("same")], kinds: ["s": .set],
      ("a", { $0.set["x"] = "A" }), ("b", { $0.insert["s"] = [] }))
    episode.resolution = resolution
    episode.resolvedBy = resolver
    var agreement = Agreement()
    agreement.count(Outcome(everywhere: state), of: episode)
    return agreement
  }

  private func share(
    _ fields: Int, _ records: Int
  ) -> Agreement.Share {
    var share = Agreement.Share()
    (share.equalFields, share.fields) = (fields, 2)
    (share.equalRecords, share.records) = (records, 1)
    return share
  }

  @Test func unchangedFieldsDoNotCount() {
    let resolution = Episode.Resolution.record(
      ["x": .text("A"), "z": .text("other")])
    #expect(agreement(["x": .text("A")], resolution).all == share(2, 1))
    #expect(agreement(["x": .text("old")], resolution).all == share(1, 0))
  }

  @Test func absentSetEqualsEmptySet() {
    #expect(
      agreement(
        ["x": .text("A"), "s": .elements([])], .record(["x": .text("A")])
      ).all == share(2, 1))
  }

  @Test func deletedRecordAgreesOnlyIfAbsent() {
    #expect(agreement(nil, .deleted).all == share(2, 1))
    #expect(agreement(["x": .text("A")], .deleted).all == share(0, 0))
    #expect(agreement(nil, .record([:])).all == share(0, 0))
  }

  @Test func recordWithoutChangedFieldsMustAgree() {
    var episode = Episode(["x": .text("old")], ("a", { $0.isDeletion = true }))
    episode.resolution = .deleted
    var agreement = Agreement()
    agreement.count(Outcome(everywhere: ["x": .text("old")]), of: episode)
    #expect(agreement.all.equalRecords == 0)
    agreement.count(Outcome(everywhere: nil), of: episode)
    #expect(agreement.all.equalRecords == 1)
    #expect(agreement.all.records == 2)
  }

  @Test func resolutionsByPersonAreCountedSeparately() {
    let resolution = Episode.Resolution.record(["x": .text("A")])
    #expect(
      agreement(["x": .text("A")], resolution, by: .person).person
        == share(2, 1))
    #expect(
      agreement(["x": .text("A")], resolution).person == Agreement.Share())
  }

  @Test func episodeWithoutResolutionDoesNotCount() {
    #expect(agreement(["x": .text("A")], nil) == Agreement())
  }
}
