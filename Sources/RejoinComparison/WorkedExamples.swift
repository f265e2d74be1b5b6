// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension WorkedExample {
  /// Every worked example.
  package static let all = [
    steps, stock, person, document, expensiveField, tags, deletion,
    deletionFirst,
  ]

  /// A phone and a watch that count steps.
  package static let steps = WorkedExample(
    title: "Step counter: 5,000, +1,200 on one phone, +800 on the other",
    lesson: "Writing a total back loses what other devices counted.",
    episode: Episode(
      id: "steps", base: ["steps": .count(5000)], kinds: ["steps": .counter],
      edits: [
        .init("phone", at: 1000) { $0.increment = ["steps": 1200] },
        .init("watch", at: 2000) { $0.increment = ["steps": 800] },
      ]))

  /// Two tills that sell from one stock.
  package static let stock = WorkedExample(
    title: "Stock of 3, one sold at each of two tills",
    lesson: "If both tills write 2 back, one sale is lost.",
    episode: Episode(
      id: "stock", base: ["stock": .count(3)], kinds: ["stock": .counter],
      edits: [
        .init("till1", at: 1000) { $0.increment = ["stock": -1] },
        .init("till2", at: 2000) { $0.increment = ["stock": -1] },
      ]))

  /// The example that usually explains Core Data's merge policies.
  package static let person = WorkedExample(
    title: "Person: name and phone here, address and phone there",
    lesson: "Only the phone conflicts, and its losing value should be listed.",
    episode: Episode(
      id: "person",
      base: [
        "name": .text("Taylor Swift"), "address": .text("123 Main St"),
        "phone": .text("(212) 555-1212"), "birthday": .text("Electronica"),
      ],
      edits: [
        .init("there", at: 1000) {
          $0.set["address"] = .string("123 Sesame St")
          $0.set["phone"] = .string("(650) 253-0000")
        },
        .init("here", at: 2000) {
          $0.set["name"] = .string("Taylor Jones")
          $0.set["phone"] = .string("1-800-275-2273")
        },
      ]))

  /// A document whose attributes are edited by different devices.
  package static let document = WorkedExample(
    title: "A document of 20 attributes, of which each device edits another",
    lesson: "If the record is the unit of merging, unrelated edits conflict.",
    episode: Episode(
      id: "document",
      base: Dictionary(
        uniqueKeysWithValues: (1...20).map { number in
          ("attribute\(number)", Content.text("as it was"))
        }),
      edits: [
        .init("tablet", at: 1000) {
          $0.set = ["attribute3": .string("mine")]
        },
        .init("phone", at: 2000) {
          $0.set = ["attribute17": .string("yours")]
        },
      ]))

  /// An object that two devices insert under one unique key, the second without
  /// the photo.
  package static let expensiveField = WorkedExample(
    title: "Inserted twice under one key, the second time without the photo",
    lesson: "What an insertion leaves out must not wipe what is there.",
    episode: Episode(
      id: "expensive-field", base: nil,
      edits: [
        .init("tablet", at: 1000) {
          $0.set = [
            "title": .string("Holiday"), "photo": .string("four megabytes"),
          ]
        },
        .init("phone", at: 2000) { $0.set = ["title": .string("Holiday")] },
      ]))

  /// A set of tags, with an insertion on one device and a removal on the other.
  package static let tags = WorkedExample(
    title: "Tags: one added here, while another is removed there",
    lesson:
      "Writing a whole set back undoes concurrent insertions and removals.",
    episode: Episode(
      id: "tags", base: ["tags": .texts("draft", "sea")],
      kinds: ["tags": .set],
      edits: [
        .init("phone", at: 1000) {
          $0.insert = ["tags": [.string("sunny")]]
        },
        .init("tablet", at: 2000) {
          $0.remove = ["tags": [.string("draft")]]
        },
      ]))

  /// A record that one device deletes while another updates it.
  package static let deletion = WorkedExample(
    title: "Deleted here, while updated there",
    lesson: "The deletion had not seen the update, so the update stays.",
    episode: Episode(
      id: "deletion", base: ["title": .text("Plan"), "note": .text("old")],
      edits: [
        .init("phone", at: 1000) { $0.set = ["note": .string("new")] },
        .init("tablet", at: 2000) { $0.isDeletion = true },
      ]))
}

extension WorkedExample {
  /// The same deletion, which reaches the server before the update.
  package static let deletionFirst = WorkedExample(
    title: "Deleted here, while updated there; the deletion arrives first",
    lesson: "The order of arrival must not decide whether the record exists.",
    episode: Episode(
      id: "deletion-first", base: deletion.episode.base,
      edits: deletion.episode.edits, arrival: ["tablet", "phone"]))
}

extension Episode.Edit {
  fileprivate init(
    _ device: String, at: Int64, _ fill: (inout Episode.Edit) -> Void
  ) {
    self.init(device, at: at)
    fill(&self)
  }
}
