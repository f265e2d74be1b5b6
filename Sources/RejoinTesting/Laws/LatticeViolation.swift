// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// An error that describes a law that doesn't hold for some values.
struct LatticeViolation: Error {
  let law: LatticeLaw
  let exhibits: [LawFailure.Exhibit]

  init(_ law: LatticeLaw, _ exhibits: [LawFailure.Exhibit] = []) {
    self.law = law
    self.exhibits = exhibits
  }

  /// Creates the violation of a change that throws an error.
  init(refusal error: any Error) {
    self.init(
      .accepted, [LawFailure.Exhibit(name: "thrown", text: "\(error)")])
  }

  /// Returns the failure of a check with samples.
  func failure<State>(
    of type: State.Type, in checker: String
  ) -> LawFailure {
    LawFailure(
      law: law, type: "\(type)", exhibits: exhibits, steps: [], seed: nil,
      checker: checker, originalCount: 0)
  }
}

/// A value with its name in a law.
struct Named<State> {
  let name: String
  let value: State

  init(_ name: String, _ value: State) {
    self.name = name
    self.value = value
  }

  var exhibit: LawFailure.Exhibit {
    LawFailure.Exhibit(name: name, text: ValueText.of(value))
  }
}

extension LatticeLaw {
  /// Returns a violation if `left` and `right` differ, or `nil` if they are
  /// equal.
  func unless<State: Equatable>(
    _ left: Named<State>, equals right: Named<State>,
    given: @autoclosure () -> [Named<State>]
  ) -> LatticeViolation? {
    left.value == right.value
      ? nil : violation(left, right, given: given())
  }

  /// Returns the violation that two values show.
  func violation<State>(
    _ left: Named<State>, _ right: Named<State>, given: [Named<State>]
  ) -> LatticeViolation {
    LatticeViolation(self, (given + [left, right]).map(\.exhibit))
  }
}
