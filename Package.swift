// swift-tools-version: 6.1

import PackageDescription

#if canImport(Darwin)
  let hasCloudKit = true
  let hasCoreData = true
  let hasSwiftUI = true
  // The reasons for calls that Apple lists. Apps need the file in their bundle.
  let privacy: [Resource] = [.process("PrivacyInfo.xcprivacy")]
  let unused: [String] = []
#else
  let hasCloudKit = false
  let hasCoreData = false
  let hasSwiftUI = false
  let privacy: [Resource] = []
  let unused = ["PrivacyInfo.xcprivacy"]
#endif

let package = Package(
  name: "Rejoin",
  platforms: [
    .macOS(.v14), .iOS(.v17), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1),
  ],
  products: [
    .library(name: "Rejoin", targets: ["Rejoin"]),
    .library(name: "RejoinPolicies", targets: ["RejoinPolicies"]),
    .library(name: "RejoinFoundation", targets: ["RejoinFoundation"]),
    .library(name: "RejoinSQL", targets: ["RejoinSQL"]),
    .library(name: "RejoinStore", targets: ["RejoinStore"]),
    .library(name: "RejoinSync", targets: ["RejoinSync"]),
    .library(name: "RejoinTesting", targets: ["RejoinTesting"]),
    .library(name: "RejoinComparison", targets: ["RejoinComparison"]),
    // What the packages beside this one check the library with; not documented.
    .library(name: "_RejoinVerification", targets: ["_RejoinVerification"]),
    .executable(name: "rejoin", targets: ["RejoinCommand"]),
  ],
  targets: [
    .target(name: "Rejoin"),
    .target(
      name: "RejoinPolicies", dependencies: ["Rejoin"],
      exclude: hasCoreData ? [] : ["CoreData"]),
    .target(name: "RejoinFoundation", dependencies: ["Rejoin"]),
    .target(name: "RejoinSQL"),
    .target(
      name: "RejoinStore",
      dependencies: [
        "Rejoin", "RejoinFoundation", "RejoinPolicies", "RejoinSQL",
      ], exclude: unused, resources: privacy),
    .target(
      name: "RejoinSync",
      dependencies: ["Rejoin", "RejoinFoundation", "RejoinStore"],
      exclude: (hasCloudKit ? [] : ["CloudKit"]) + unused, resources: privacy),
    .target(name: "RejoinTesting", dependencies: ["Rejoin"]),
    .target(
      name: "_RejoinVerification",
      dependencies: [
        "Rejoin", "RejoinSQL", "RejoinStore", "RejoinSync", "RejoinTesting",
      ]),
    .target(
      name: "RejoinComparison",
      dependencies: ["Rejoin", "RejoinPolicies", "RejoinTesting"]),
    .executableTarget(
      name: "RejoinCommand",
      dependencies: [
        "Rejoin", "RejoinSQL", "RejoinStore", "RejoinSync", "RejoinPolicies",
        "RejoinComparison", "RejoinTesting",
      ]),
    .testTarget(
      name: "RejoinFoundationTests",
      dependencies: ["Rejoin", "RejoinFoundation"]
    ),
    .testTarget(
      name: "RejoinTests",
      dependencies: ["Rejoin", "RejoinTesting", "_RejoinVerification"],
      exclude: ["Golden"]),
    .testTarget(
      name: "RejoinStoreTests",
      dependencies: [
        "Rejoin", "RejoinFoundation", "RejoinPolicies", "RejoinSQL",
        "RejoinStore", "RejoinSync", "RejoinTesting", "HubWriter",
        "RejoinCommand", "StoreWriter", "_RejoinVerification",
      ]),
    .testTarget(
      name: "RejoinSyncTests",
      dependencies: [
        "Rejoin", "RejoinSQL", "RejoinStore", "RejoinSync", "RejoinTesting",
        "_RejoinVerification",
      ], exclude: ["CloudKit", "Golden"]),
    // What is killed in these tests.
    .executableTarget(
      name: "StoreWriter",
      dependencies: [
        "Rejoin", "RejoinFoundation", "RejoinSQL", "RejoinStore",
        "RejoinSync", "RejoinTesting", "_RejoinVerification",
      ],
      path: "Tests/Programs/StoreWriter"),
    // Cuts the power in what it has done.
    .executableTarget(
      name: "PowerCuts",
      dependencies: [
        "Rejoin", "RejoinFoundation", "RejoinSQL", "RejoinStore",
        "RejoinSync", "RejoinTesting", "_RejoinVerification",
      ],
      path: "Tests/Programs/PowerCuts"),
    .executableTarget(
      name: "HubWriter",
      dependencies: ["Rejoin", "RejoinFoundation", "RejoinSQL", "RejoinStore"],
      path: "Tests/Programs/HubWriter"),
    .testTarget(
      name: "RejoinTestingTests", dependencies: ["Rejoin", "RejoinTesting"]),
    .testTarget(
      name: "_RejoinVerificationTests",
      dependencies: [
        "Rejoin", "RejoinTesting", "_RejoinVerification", "Simulate",
      ]),
    // The explorer and the simulator, for as long as one wants.
    .executableTarget(
      name: "Simulate", dependencies: ["RejoinTesting", "_RejoinVerification"],
      path: "Tests/Programs/Simulate"),
    .testTarget(
      name: "RejoinPoliciesTests",
      dependencies: ["Rejoin", "RejoinPolicies", "RejoinTesting"],
      exclude: ["CoreData"]),
    // `Tests/Checks/Walk/run` records the calls of its increment.
    .executableTarget(
      name: "IncrementOnce", dependencies: ["Rejoin", "RejoinStore"],
      path: "Tests/Programs/Increment"),
    .testTarget(
      name: "RejoinComparisonTests",
      dependencies: [
        "Rejoin", "RejoinPolicies", "RejoinComparison", "RejoinTesting",
      ]),
    .testTarget(
      name: "RejoinCommandTests",
      dependencies: [
        "Rejoin", "RejoinComparison", "RejoinSQL", "RejoinStore", "RejoinSync",
        "RejoinTesting", "_RejoinVerification", "RejoinCommand",
      ],
      resources: [.copy("Scripts")]),
    // The code of the article *A list in SwiftUI*.
    .executableTarget(
      name: "ListInSwiftUI",
      dependencies: [
        "Rejoin", "RejoinFoundation", "RejoinPolicies", "RejoinStore",
        "RejoinSync",
      ] + (hasSwiftUI ? [] : ["SwiftUI"]),
      path: "Tests/Programs/Outside/ListInSwiftUI", exclude: ["README.md"]),
    .testTarget(
      name: "ListInSwiftUITests",
      dependencies: [
        "Rejoin", "RejoinFoundation", "RejoinPolicies", "RejoinStore",
        "RejoinSync", "ListInSwiftUI",
      ],
      path: "Tests/Programs/ListInSwiftUITests"),
    // What is fuzzed in the package in Fuzz, so that `swift test` replays what has
    // failed there.
    .target(
      name: "FuzzBodies",
      dependencies: [
        "Rejoin", "RejoinPolicies", "RejoinSQL", "RejoinStore", "RejoinSync",
        "RejoinTesting", "_RejoinVerification",
      ],
      path: "Fuzz/Sources/FuzzBodies"),
    .testTarget(
      name: "FuzzRegressionTests",
      dependencies: ["FuzzBodies", "RejoinTesting", "_RejoinVerification"],
      path: "Fuzz/Regressions"),
  ],
  swiftLanguageModes: [.v6]
)

// Where there is no Core Data, the policy for it is compiled against a stand-in,
// for its tests only.
if !hasCoreData {
  package.targets += [
    .target(name: "CoreData", path: "Tests/StandIns/CoreData"),
    .target(
      name: "CoreDataPolicy",
      dependencies: ["Rejoin", "RejoinPolicies", "CoreData"],
      path: "Sources/RejoinPolicies/CoreData",
      swiftSettings: [.define("CORE_DATA_STAND_IN")]),
    .testTarget(
      name: "CoreDataPolicyTests",
      dependencies: ["Rejoin", "RejoinPolicies", "CoreData", "CoreDataPolicy"],
      path: "Tests/RejoinPoliciesTests/CoreData"),
  ]
}

// The same for the storage in iCloud.
if !hasCloudKit {
  package.targets += [
    .target(name: "CloudKit", path: "Tests/StandIns/CloudKit"),
    .target(
      name: "CloudKitObjects", dependencies: ["RejoinSync", "CloudKit"],
      path: "Sources/RejoinSync/CloudKit",
      swiftSettings: [.define("CLOUDKIT_STAND_IN")]),
    .testTarget(
      name: "CloudKitObjectsTests",
      dependencies: [
        "Rejoin", "RejoinSQL", "RejoinStore", "RejoinSync", "RejoinTesting",
        "_RejoinVerification", "CloudKit", "CloudKitObjects", "CoreData",
      ],
      path: "Tests/RejoinSyncTests/CloudKit"),
  ]
}

// Where there is no SwiftUI, an article's app is compiled against a stand-in,
// which only type-checks.
if !hasSwiftUI {
  package.targets += [
    .target(name: "SwiftUI", path: "Tests/StandIns/SwiftUI")
  ]
}

// Optimizing the tests takes longer than running them unoptimized, and their symbols
// for a debugger a quarter of the time. Packages that depend on this one do not build
// them.
for target in package.targets where target.type == .test {
  target.swiftSettings =
    (target.swiftSettings ?? []) + [
      .unsafeFlags(["-Onone", "-gnone"], .when(configuration: .release))
    ]
}
