// SPDX-License-Identifier: Apache-2.0

// A stand-in for SwiftUI, to type-check an article on platforms without
// SwiftUI. It contains Apple's names and signatures that the article needs, and
// shows nothing.

@_exported import Foundation
@_exported import Observation

/// An app.
@MainActor @preconcurrency
public protocol App {
  associatedtype Body: Scene
  @SceneBuilder @MainActor @preconcurrency var body: Body { get }
  @MainActor @preconcurrency init()
}

extension App {
  @MainActor @preconcurrency public static func main() {
    fatalError("The stand-in for SwiftUI cannot run an app.")
  }
}

/// A part of an app, such as a group of windows.
@MainActor @preconcurrency
public protocol Scene {
  associatedtype Body: Scene
  @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: Scene {}

/// Combines scenes.
@resultBuilder
public struct SceneBuilder {
  public static func buildBlock<Content: Scene>(_ content: Content) -> Content {
    content
  }
}

/// Windows with the same content.
public struct WindowGroup<Content: View>: Scene {
  public init(@ViewBuilder content: () -> Content) {}
  public var body: Never { fatalError() }
}
