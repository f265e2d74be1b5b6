// swift-tools-version: 6.1

import PackageDescription

/// A package at a path goes by the name of its folder, whatever that is.
let root = Context.packageDirectory.split(separator: "/").dropLast().last
let rejoin = root.map(String.init) ?? "Rejoin"

/// The targets that libFuzzer drives; each is an entry point and no more.
let targets = ["decode", "open", "apply", "scripts", "contexts"]

let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(path: "..")],
  targets: [
    .target(
      name: "FuzzBodies",
      dependencies: [
        .product(name: "Rejoin", package: rejoin),
        .product(name: "RejoinPolicies", package: rejoin),
        .product(name: "RejoinTesting", package: rejoin),
        .product(name: "_RejoinVerification", package: rejoin),
      ])
  ]
    + targets.map { name in
      .executableTarget(name: name, dependencies: ["FuzzBodies"])
    },
  swiftLanguageModes: [.v6]
)
