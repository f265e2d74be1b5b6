// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinFoundation
import Testing

/// Equal values have equal bytes, although `Set` and `Dictionary` list their
/// elements in the order of their hashes.
@Suite struct CodedTests {
  private enum Day: String, Codable, CaseIterable, Sendable {
    case mon, tue, wed, thu, fri, sat, sun
  }

  private struct Key: Codable, Hashable, Sendable { let day: Day }

  private struct Lists: Codable, Hashable, Sendable {
    var words: Set<String> = []
    var hours: [Day: Double] = [:]
    var rooms: [Key: [Set<Int>]] = [:]
    var nested: Set<Set<Int>> = []
    var maybe: Set<Date>?
  }

  private class Base: Codable {
    var words: Set<String>
    init(_ words: Set<String>) { self.words = words }
  }

  private final class Derived: Base {
    var more: Set<Int> = []

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(more, forKey: .more)
      var list = container.nestedUnkeyedContainer(forKey: .list)
      try list.encode(more)
      try list.encodeNil()
      try super.encode(to: container.superEncoder())
    }

    enum Keys: CodingKey { case more, list }
  }

  /// The capacity changes the order of the elements.
  private func lists(capacity: Int, _ numbers: [Int]) -> Lists {
    var lists = Lists()
    lists.words = Set(minimumCapacity: capacity)
    lists.hours = Dictionary(minimumCapacity: capacity)
    lists.maybe = Set(minimumCapacity: capacity)
    for number in numbers {
      lists.words.insert("w\(number)")
      lists.nested.insert(Set(numbers.prefix(number)))
      lists.maybe?.insert(Date(timeIntervalSince1970: Double(number)))
      let day = Day.allCases[number % 7]
      lists.hours[day] = 8
      lists.rooms[Key(day: day), default: []] = [Set(numbers)]
    }
    return lists
  }

  @Test func equalValuesHaveEqualBytes() throws {
    let numbers = Array(0..<12)
    let expected = lists(capacity: 1, numbers)
    for capacity in [10, 100, 1000] {
      let other = lists(capacity: capacity, numbers)
      // A set of sets and a dictionary take their order from the insertions.
      #expect(other.words == expected.words && other.hours == expected.hours)
      #expect(Coded(other.words).fieldValue == Coded(expected.words).fieldValue)
      #expect(Coded(other.hours).fieldValue == Coded(expected.hours).fieldValue)
    }
    var reversed = lists(capacity: 500, numbers)
    reversed.nested = Set(expected.nested.sorted { $0.count > $1.count })
    #expect(reversed == expected)
    #expect(Coded(reversed).fieldValue == Coded(expected).fieldValue)
    #expect(
      Coded<Lists>(fieldValue: Coded(expected).fieldValue)?.content == expected)
  }

  @Test func elementsAreSortedByTheirBytes() throws {
    #expect(json(["b", "a", "B"] as Set) == #"["B","a","b"]"#)
    #expect(json([10, 9, 1] as Set) == "[1,10,9]")
    #expect(json([Day.tue: 1, .mon: 2]) == #"["mon",2,"tue",1]"#)
    #expect(json([[2, 1] as Set, [3]] as Set) == "[[1,2],[3]]")
  }

  @Test func classesAndNestedContainersAreSorted() throws {
    let value = Derived(["b", "a"])
    value.more = [2, 1]
    let text = String(
      decoding: try #require(encoded(AnyOf(value))), as: UTF8.self)
    #expect(
      text
        == #"{"value":{"list":[[1,2],null],"more":[1,2],"super":{"words":["a","b"]}}}"#
    )
  }

  /// Values without sets keep their former bytes.
  @Test func otherValuesKeepTheirBytes() throws {
    struct Inner: Codable, Hashable { var numbers = [3, 1, 2] }
    struct Plain: Codable, Hashable {
      var date = Date(timeIntervalSince1970: 12.5)
      var data = Data([1, 2, 255])
      var url = URL(string: "https://example.com/a?b=c")
      var decimal = Decimal(string: "1.50")
      var texts = ["b": 1.5, "a": 0.1]
      var numbers = [7: "x", 3: "y"]
      var inner = [Inner(), Inner(numbers: [])]
      var unset: Int?
      var byte = UInt8.max
      var float = Float(0.1)
      var flag = true
      var day = Day.mon
      var uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7))
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    #expect(try encoded(Plain()) == Array(encoder.encode(Plain())))
    #expect(
      try encoded(Date(timeIntervalSince1970: 5))
        == Array(encoder.encode(Date(timeIntervalSince1970: 5))))
    #expect(encoded("text") == Array(#""text""#.utf8))
  }

  private struct Folder: Codable, Hashable, Sendable {
    var name: String
    var folders: Set<Folder> = []
  }

  /// Encoding is not repeated for each level.
  @Test func nestedSetsAreEncodedOnce() throws {
    var folder = Folder(name: "last")
    for level in 0..<60 {
      folder = Folder(
        name: "\(level)", folders: [folder, Folder(name: "side")])
    }
    #expect(
      Coded<Folder>(fieldValue: Coded(folder).fieldValue)?.content == folder)
  }

  private struct Note: Codable, Hashable, Sendable {
    var text: String?

    func encode(to encoder: any Encoder) throws {
      guard let text else { return }
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(text, forKey: .text)
    }
  }

  @Test func emptyElementIsListed() throws {
    let notes: Set = [Note(text: "a"), Note()]
    #expect(json(notes) == #"[{"text":"a"},{}]"#)
    #expect(
      Coded<Set<Note>>(fieldValue: Coded(notes).fieldValue)?.content == notes)
  }

  @Test func unencodableValueIsNull() {
    #expect(Coded(Set([Double.infinity])).fieldValue == .null)
    #expect(Coded([Day.mon: Double.nan]).fieldValue == .null)
  }

  private struct Reading: Entity {
    let celsius = register("celsius", of: Coded<Double>.self)
    let price = register("price", of: Coded<Decimal>.self)
  }

  /// A literal is the content, even if the content has another type by default.
  @Test func literalIsStored() throws {
    let replica = Replica(
      device: DeviceID(1), schema: [Reading.self], wallClock: .system,
      makeDeviceID: DeviceID.random)
    try replica.save {
      let reading = $0[Reading.self, "1"]
      (reading.celsius, reading.price) = (Coded(7), Coded(2))
    }
    let reading = try #require(replica[Reading.self, "1"])
    #expect(reading.celsius == Coded(7) && reading.price == Coded(2))
    #expect(reading.celsius?.content == 7 && reading.price?.content == 2)
  }

  private struct AnyOf: Codable, Hashable, @unchecked Sendable {
    let value: Derived
    init(_ value: Derived) { self.value = value }
    static func == (a: AnyOf, b: AnyOf) -> Bool { a.value === b.value }
    func hash(into hasher: inout Hasher) {}
  }

  private func encoded(
    _ value: some Codable & Hashable & Sendable
  ) -> [UInt8]? {
    if case .bytes(let bytes) = Coded(value).fieldValue { bytes } else { nil }
  }

  private func json(_ value: some Codable & Hashable & Sendable) -> String? {
    encoded(value).map { String(decoding: $0, as: UTF8.self) }
  }
}
