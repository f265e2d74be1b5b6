// SPDX-License-Identifier: Apache-2.0

/// A part of the user interface.
@MainActor @preconcurrency
public protocol View {
  associatedtype Body: View
  @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
  public var body: Never { fatalError() }
}

extension View where Body == Never {
  public var body: Never { fatalError() }
}

/// Combines views.
@resultBuilder
public struct ViewBuilder {
  public static func buildExpression<Content: View>(
    _ content: Content
  ) -> Content { content }

  public static func buildBlock() -> EmptyView { EmptyView() }

  public static func buildBlock<Content: View>(_ content: Content) -> Content {
    content
  }

  public static func buildBlock<each Content: View>(
    _ content: repeat each Content
  ) -> TupleView<(repeat each Content)> {
    TupleView((repeat each content))
  }

  public static func buildIf<Content: View>(_ content: Content?) -> Content? {
    content
  }

  public static func buildEither<First: View, Second: View>(
    first: First
  ) -> _ConditionalContent<First, Second> { _ConditionalContent() }

  public static func buildEither<First: View, Second: View>(
    second: Second
  ) -> _ConditionalContent<First, Second> { _ConditionalContent() }
}

/// No view.
public struct EmptyView: View {
  public typealias Body = Never
  nonisolated public init() {}
}

/// Several views.
public struct TupleView<T>: View {
  public typealias Body = Never
  nonisolated public init(_ value: T) {}
}

/// One of two views.
public struct _ConditionalContent<TrueContent, FalseContent> {}

extension _ConditionalContent: View
where TrueContent: View, FalseContent: View {
  public typealias Body = Never
}

extension Optional: View where Wrapped: View {
  public typealias Body = Never
}

// The modifiers.
extension View {
  nonisolated public func environment<T: AnyObject & Observable>(
    _ object: T?
  ) -> some View { EmptyView() }

  nonisolated public func task(
    priority: TaskPriority = .userInitiated,
    @_inheritActorContext _ action: @escaping @Sendable () async -> Void
  ) -> some View { EmptyView() }

  nonisolated public func toolbar<Content: View>(
    @ViewBuilder content: () -> Content
  ) -> some View { EmptyView() }

  nonisolated public func sheet<Item: Identifiable, Content: View>(
    item: Binding<Item?>, onDismiss: (() -> Void)? = nil,
    @ViewBuilder content: @escaping (Item) -> Content
  ) -> some View { EmptyView() }

  nonisolated public func disabled(_ disabled: Bool) -> some View {
    EmptyView()
  }

  nonisolated public func badge(_ count: Int) -> some View { EmptyView() }

  nonisolated public func tag<V: Hashable>(_ tag: V) -> some View {
    EmptyView()
  }
}
