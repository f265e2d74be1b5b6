// SPDX-License-Identifier: Apache-2.0

/// A value that belongs to a view.
@propertyWrapper
public struct State<Value> {
  private final class Storage {
    var value: Value
    init(_ value: Value) { self.value = value }
  }

  private let storage: Storage

  public init(wrappedValue value: Value) { storage = Storage(value) }

  public var wrappedValue: Value {
    get { storage.value }
    nonmutating set { storage.value = newValue }
  }

  public var projectedValue: Binding<Value> { Binding(unused: ()) }
}

extension State where Value: ExpressibleByNilLiteral {
  public init() { self.init(wrappedValue: nil) }
}

/// A value that belongs to another view.
@propertyWrapper @dynamicMemberLookup
public struct Binding<Value> {
  init(unused: Void) {}

  public var wrappedValue: Value {
    get { fatalError("The stand-in for SwiftUI has no bindings.") }
    nonmutating set {}
  }

  public var projectedValue: Binding<Value> { self }

  public subscript<Subject>(
    dynamicMember keyPath: WritableKeyPath<Value, Subject>
  ) -> Binding<Subject> { Binding<Subject>(unused: ()) }
}

/// A value that an outer view passes to the views in it.
@propertyWrapper
public struct Environment<Value> {
  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}
  public init(_ objectType: Value.Type) where Value: AnyObject & Observable {}

  public var wrappedValue: Value {
    fatalError("The stand-in for SwiftUI has no environment.")
  }
}

/// The values of SwiftUI in the environment.
public struct EnvironmentValues {
  public var dismiss: DismissAction { DismissAction() }
}

/// Closes a view.
@MainActor @preconcurrency
public struct DismissAction {
  nonisolated init() {}
  public func callAsFunction() {}
}
