// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Rejoin

/// Encoded undos that are accepted, in parts that a test can replace.
protocol UndoText {}

extension UndoText {
  var one: String {
    #"{"device":"\#(DeviceID(1).hexadecimal)","sequence":1}"#
  }
  var two: String {
    #"{"device":"\#(DeviceID(1).hexadecimal)","sequence":2}"#
  }
  var zero: String {
    #"{"device":"\#(DeviceID(1).hexadecimal)","sequence":0}"#
  }

  // Contents of changes.
  var write: String {
    #""siblings":{"before":{"dot":\#(one),"time":5,"value":{"int":1}},"#
      + #""beside":[],"isThere":true}"#
  }
  var mark: String {
    #""siblings":{"before":{"dot":\#(one),"value":{"bool":true}},"#
      + #""beside":[],"isThere":false}"#
  }
  var count: String {
    #""sums":{"first":2,"amounts":[{"amount":-7}],"decisions":\#(decisions)}"#
  }
  var entries: String {
    #""sums":{"first":3,"amounts":[{"amount":5}],"decisions":\#(decisions)}"#
  }
  var existence: String {
    #""existence":{"existed":false,"isThere":true,"isDeletion":false,"#
      + #""uncovered":[],"wasFinal":false,"before":1,"after":2}"#
  }
  var decisions: String {
    #"[{"device":"\#(DeviceID(1).hexadecimal)","before":\#(before),"#
      + #""after":\#(after)}]"#
  }
  var before: String {
    #"{"decided":2,"turns":0,"canceled":2,"sum":"5"}"#
  }
  var after: String {
    #"{"decided":4,"turns":1,"canceled":3,"sum":"12"}"#
  }
  var element: String {
    #""element":{"int":1},"#
  }

  func field(_ kind: FieldKind, _ name: String = "f") -> String {
    #""field":{"kind":"\#(kind)","name":"\#(name)"},"#
  }

  /// Returns a change of a record, or of a field.
  func change(
    _ content: String, of place: String = "", in entity: String = "E"
  ) -> String {
    #"{"record":{"entity":"\#(entity)","key":"k"},\#(place)"#
      + #""save":{"digest":9,"dot":\#(two)},\#(content)}"#
  }

  func undo(_ changes: String...) -> String {
    let changes = changes.joined(separator: ",")
    return #"{"dot":\#(two),"undone":\#(one),"changes":[\#(changes)]}"#
  }

  func read(
    _ text: String, _ type: any Decodable.Type = UndoStep.self
  ) throws {
    _ = try JSONDecoder().decode(type, from: Data(text.utf8))
  }

  /// Expects that a text is accepted, and refused with a part replaced.
  ///
  /// - Parameter reason: A part of the error's description.
  func expect(
    _ text: String,
    refusing part: String, as changed: String, because reason: String,
    reading type: any Decodable.Type = UndoStep.self,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try read(text, type)
    let new = text.replacing(part, with: changed, maxReplacements: 1)
    #expect(new != text, sourceLocation: sourceLocation)
    let error = #expect(
      throws: DecodingError.self, sourceLocation: sourceLocation
    ) { try read(new, type) }
    guard case .dataCorrupted(let context)? = error else {
      Issue.record("\(error as Any)", sourceLocation: sourceLocation)
      return
    }
    #expect(
      context.debugDescription.contains(reason), sourceLocation: sourceLocation)
  }
}
