// swift-tools-version: 6.1

import PackageDescription

/// SwiftPM names a package at a path by its folder, which may have any name.
let root = Context.packageDirectory.split(separator: "/").dropLast().last
let rejoin = root.map(String.init) ?? "Rejoin"

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v14)],
  dependencies: [.package(path: "..")],
  targets: [
    .target(name: "CAllocations"),
    .target(name: "Harness", dependencies: ["CAllocations"]),
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        "CAllocations", "Harness",
        .product(name: "Rejoin", package: rejoin),
        .product(name: "RejoinComparison", package: rejoin),
        .product(name: "RejoinPolicies", package: rejoin),
        .product(name: "RejoinSQL", package: rejoin),
        .product(name: "RejoinStore", package: rejoin),
        .product(name: "RejoinSync", package: rejoin),
        .product(name: "RejoinTesting", package: rejoin),
        .product(name: "_RejoinVerification", package: rejoin),
      ]),
    // Started by the scripts in Load.
    .executableTarget(
      name: "hubload",
      dependencies: [
        .product(name: "Rejoin", package: rejoin),
        .product(name: "RejoinFoundation", package: rejoin),
        .product(name: "RejoinSQL", package: rejoin),
        .product(name: "RejoinStore", package: rejoin),
        .product(name: "RejoinSync", package: rejoin),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
