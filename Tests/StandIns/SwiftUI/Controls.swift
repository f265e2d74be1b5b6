// SPDX-License-Identifier: Apache-2.0

/// The key of a text that is translated.
public struct LocalizedStringKey: ExpressibleByStringInterpolation {
  public init(stringLiteral value: String) {}
}

/// A text.
public struct Text: View {
  public typealias Body = Never
  public init(_ key: LocalizedStringKey) {}
  public init(verbatim content: String) {}
  @_disfavoredOverload public init<S: StringProtocol>(_ content: S) {}
}

/// A button.
public struct Button<Label: View>: View {
  public typealias Body = Never
}

extension Button where Label == Text {
  nonisolated public init(
    _ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void
  ) {}

  @_disfavoredOverload
  nonisolated public init<S: StringProtocol>(
    _ title: S, action: @escaping @MainActor () -> Void
  ) {}
}

/// A field for text.
public struct TextField<Label: View>: View {
  public typealias Body = Never
}

extension TextField where Label == Text {
  nonisolated public init(
    _ titleKey: LocalizedStringKey, text: Binding<String>
  ) {}
}

/// A choice of one value.
public struct Picker<Label: View, SelectionValue: Hashable, Content: View>: View
{
  public typealias Body = Never
}

extension Picker where Label == Text {
  nonisolated public init(
    _ titleKey: LocalizedStringKey, selection: Binding<SelectionValue>,
    @ViewBuilder content: () -> Content
  ) {}
}

/// Rows.
public struct List<SelectionValue: Hashable, Content: View>: View {
  public typealias Body = Never
}

extension List where SelectionValue == Never {
  nonisolated public init(@ViewBuilder content: () -> Content) {}
}

/// A form with controls.
public struct Form<Content: View>: View {
  public typealias Body = Never
  nonisolated public init(@ViewBuilder content: () -> Content) {}
}

/// A view that other views can cover.
public struct NavigationStack<Data, Root: View>: View {
  public typealias Body = Never

  nonisolated public init(@ViewBuilder root: () -> Root)
  where Data == NavigationPath {}
}

/// The views of a navigation stack.
public struct NavigationPath {}

/// A view for each element.
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content> {}

extension ForEach: View where Content: View {
  public typealias Body = Never

  nonisolated public init(
    _ data: Data, id: KeyPath<Data.Element, ID>,
    @ViewBuilder content: @escaping (Data.Element) -> Content
  ) {}
}

extension ForEach
where ID == Data.Element.ID, Content: View, Data.Element: Identifiable {
  nonisolated public init(
    _ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content
  ) {}
}
