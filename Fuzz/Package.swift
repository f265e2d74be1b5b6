// swift-tools-version: 6.1

import PackageDescription

/// SwiftPM names a package at a path by its folder, which may have any name.
let root = Context.packageDirectory.split(separator: "/").dropLast().last
let rejoin = root.map(String.init) ?? "Rejoin"

/// The executables for libFuzzer, which contain only the entry point.
let targets = [
  "decode", "open", "apply", "scripts", "contexts", "forge", "exchange",
  "objects",
]

let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v14)],
  dependencies: [.package(path: "..")],
  targets: [
    .target(
      name: "FuzzBodies",
      dependencies: [
        .product(name: "Rejoin", package: rejoin),
        .product(name: "RejoinPolicies", package: rejoin),
        .product(name: "RejoinSQL", package: rejoin),
        .product(name: "RejoinStore", package: rejoin),
        .product(name: "RejoinSync", package: rejoin),
        .product(name: "RejoinTesting", package: rejoin),
        .product(name: "_RejoinVerification", package: rejoin),
      ])
  ]
    + targets.map { name in
      .executableTarget(name: name, dependencies: ["FuzzBodies"])
    },
  swiftLanguageModes: [.v6]
)
