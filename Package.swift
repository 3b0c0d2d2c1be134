// swift-tools-version: 6.2
import PackageDescription

/// Our own targets: Swift 6 language mode (the tools version's default), and a warning is an error.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // Places at which the program can be told to fail: release builds have none of them.
    .define("FAILPOINTS", .when(configuration: .debug)),
    // A worker spends a twelfth of its time on checking that a class's property is not used twice at a time. Debug builds, which
    // the tests run, check it.
    .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]

/// Targets that read what comes from outside. Every file of theirs imports CheckedNumbers, and so the standard library's conversions that
/// end the process, or take a number without a bound, do not compile there (Sources/CheckedNumbers/TrappingForms.swift).
let checked: [SwiftSetting] =
    strict + [
        .unsafeFlags(["-Xfrontend", "-import-module", "-Xfrontend", "CheckedNumbers"])
    ]

let package = Package(
    name: "pushfarm",
    products: [.executable(name: "pushfarm", targets: ["pushfarm"])],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    ],
    targets: [
        // System libraries: a module map and a shim header each.
        .systemLibrary(
            name: "CLibuv", pkgConfig: "libuv",
            providers: [.apt(["libuv1-dev"]), .brew(["libuv"])]),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(
            name: "CNghttp2", pkgConfig: "libnghttp2",
            providers: [.apt(["libnghttp2-dev"]), .brew(["libnghttp2"])]),
        .systemLibrary(
            name: "CHiredis", pkgConfig: "hiredis",
            providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]),

        // Cores: no socket, no clock, no C.
        .target(name: "CheckedNumbers", swiftSettings: strict),
        .target(name: "PushModel", dependencies: ["CheckedNumbers"], swiftSettings: checked),
        .target(
            name: "APNs",
            dependencies: [
                "CheckedNumbers", "PushModel", .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: checked),
        .target(name: "FarmPolicy", dependencies: ["CheckedNumbers", "PushModel"], swiftSettings: checked),
        .target(name: "ControlChannel", dependencies: ["CheckedNumbers"], swiftSettings: checked),

        // Adapters: one C library each.
        .target(name: "EventLoop", dependencies: ["CheckedNumbers", "CLibuv"], swiftSettings: checked),
        .target(name: "TLS", dependencies: ["CheckedNumbers", "COpenSSL"], swiftSettings: checked),
        .target(name: "HTTP2", dependencies: ["CheckedNumbers", "CNghttp2"], swiftSettings: checked),
        .target(name: "RESP", dependencies: ["CheckedNumbers", "CHiredis"], swiftSettings: checked),

        .target(name: "Failpoints", dependencies: ["EventLoop"], swiftSettings: strict),

        // Shells.
        .target(
            name: "Transport", dependencies: ["CheckedNumbers", "EventLoop", "TLS"], swiftSettings: checked),
        .target(
            name: "Web", dependencies: ["CheckedNumbers", "EventLoop", "TLS", "Transport"],
            swiftSettings: checked),
        .target(
            name: "Supervision",
            dependencies: [
                "CheckedNumbers", "ControlChannel", "FarmPolicy", "EventLoop", "Transport", "Failpoints",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: checked),
        .target(
            name: "FarmStore",
            dependencies: [
                "CheckedNumbers", "PushModel", "ControlChannel", "RESP", "EventLoop", "Transport", "TLS",
                "Failpoints",
                .product(name: "Logging", package: "swift-log"),
            ],
            resources: [.embedInCode("Scripts")], swiftSettings: checked),
        .target(
            name: "Gateway",
            dependencies: [
                "CheckedNumbers", "PushModel", "APNs", "FarmPolicy", "HTTP2", "TLS", "EventLoop", "Transport",
            ],
            swiftSettings: checked),
        .target(
            name: "Worker",
            dependencies: [
                "CheckedNumbers", "PushModel", "APNs", "FarmPolicy", "ControlChannel", "EventLoop", "TLS",
                "Transport",
                "FarmStore", "Gateway", "Supervision", "Failpoints",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: checked),
        .target(
            name: "Intake",
            dependencies: [
                "CheckedNumbers", "PushModel", "ControlChannel", "EventLoop", "FarmStore", "Supervision",
                "Failpoints",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: checked),
        .target(
            name: "Coordinator",
            dependencies: [
                "CheckedNumbers", "PushModel", "APNs", "FarmPolicy", "ControlChannel", "EventLoop", "TLS",
                "FarmStore", "FarmConfiguration", "Supervision", "Transport", "Web",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: checked),
        .target(
            name: "Simulator",
            dependencies: [
                "PushModel", "APNs", "HTTP2", "TLS", "EventLoop", "Transport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .target(
            name: "FarmLogging",
            dependencies: ["CheckedNumbers", .product(name: "Logging", package: "swift-log")],
            swiftSettings: checked),
        .target(
            name: "FarmConfiguration",
            dependencies: [
                "CheckedNumbers", "PushModel", "FarmLogging",
                .product(name: "Yams", package: "Yams"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: checked),
        .executableTarget(
            name: "pushfarm",
            dependencies: [
                "CheckedNumbers", "Worker", "Intake", "Coordinator", "Simulator", "FarmConfiguration",
                "FarmLogging",
                "FarmPolicy", "FarmStore",
                "EventLoop", "Supervision",
                "PushModel", "Transport", "TLS", "RESP", "APNs", "Gateway",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: checked,
            linkerSettings: [
                // Relocations in a few kilobytes instead of two megabytes that every worker would page in.
                .unsafeFlags(
                    ["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"],
                    .when(platforms: [.linux], configuration: .release))
            ]),

        // Tests.
        .testTarget(
            name: "APNsTests", dependencies: ["RandomTesting", "APNs", "PushModel"], swiftSettings: strict),
        .testTarget(
            name: "CheckedNumbersTests", dependencies: ["CheckedNumbers", "FarmHarness"],
            swiftSettings: strict),
        .testTarget(
            name: "FarmPolicyTests", dependencies: ["RandomTesting", "FarmPolicy", "PushModel"],
            swiftSettings: strict),
        .testTarget(
            name: "ControlChannelTests", dependencies: ["RandomTesting", "ControlChannel"],
            swiftSettings: strict),
        .testTarget(name: "TLSTests", dependencies: ["TLS"], swiftSettings: strict),
        .testTarget(
            name: "WebTests", dependencies: ["Web", "TLS", "Transport", "EventLoop", "LoopTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "PushModelTests", dependencies: ["RandomTesting", "PushModel"], swiftSettings: strict),
        .testTarget(name: "RESPTests", dependencies: ["RandomTesting", "RESP"], swiftSettings: strict),
        .testTarget(
            name: "FarmLoggingTests",
            dependencies: ["FarmLogging", .product(name: "Logging", package: "swift-log")],
            swiftSettings: strict),
        .testTarget(
            name: "pushfarmTests",
            dependencies: ["pushfarm", "PushModel", "FarmStore", "FarmConfiguration", "FarmHarness", "RESP"],
            swiftSettings: strict),
        .testTarget(
            name: "FarmConfigurationTests", dependencies: ["RandomTesting", "FarmConfiguration"],
            swiftSettings: strict),
        .testTarget(name: "FailpointsTests", dependencies: ["Failpoints"], swiftSettings: strict),
        .testTarget(
            name: "SupervisionTests",
            dependencies: [
                "Supervision", "ControlChannel", "FarmPolicy", "EventLoop", "FarmHarness", "LoopTesting",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(name: "HTTP2Tests", dependencies: ["RandomTesting", "HTTP2"], swiftSettings: strict),
        .testTarget(
            name: "EventLoopTests", dependencies: ["EventLoop", "Transport", "LoopTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "TransportTests", dependencies: ["Transport", "TLS", "EventLoop", "LoopTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "WorkerTests",
            dependencies: [
                "FarmHarness", "RandomTesting",
                "Worker", "Coordinator", "FarmPolicy", "FarmStore", "Gateway", "Simulator", "ControlChannel",
                "APNs", "HTTP2", "PushModel", "RESP",
                "TLS", "Transport",
                "EventLoop", "LoopTesting", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "Gateway", "Simulator", "APNs", "FarmPolicy", "HTTP2", "PushModel", "TLS", "EventLoop",
                "Transport", "LoopTesting", "RandomTesting", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .target(
            name: "LoopTesting", dependencies: ["EventLoop"], path: "Tests/LoopTesting", swiftSettings: strict
        ),
        .target(name: "RandomTesting", path: "Tests/RandomTesting", swiftSettings: strict),
        // What reads bytes of others, for `make fuzz` (libFuzzer) and FuzzingTests (a plain loop).
        .target(
            name: "Fuzzing",
            dependencies: [
                "PushModel", "APNs", "ControlChannel", "RESP", "FarmStore", "FarmConfiguration", "HTTP2",
                "Transport", "RandomTesting",
            ],
            path: "Tests/Fuzzing", exclude: ["Corpora", "Crashers", "run"], swiftSettings: strict),
        .systemLibrary(name: "CFuzzer", path: "Tests/CFuzzer"),
        .executableTarget(
            name: "pushfarm-fuzz", dependencies: ["Fuzzing", "CFuzzer"], path: "Tests/FuzzingProgram",
            swiftSettings: strict),
        .testTarget(
            name: "FuzzingTests", dependencies: ["Fuzzing", "FarmHarness", "pushfarm-fuzz"],
            swiftSettings: strict),
        .testTarget(
            name: "CoordinatorTests",
            dependencies: [
                "Coordinator", "FarmConfiguration", "FarmHarness", "FarmStore", "FarmPolicy", "PushModel",
                "RESP",
                "EventLoop", "LoopTesting", "RandomTesting", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "IntakeTests",
            dependencies: [
                "FarmHarness", "Intake", "Coordinator", "ControlChannel", "FarmStore", "FarmPolicy",
                "PushModel", "RESP",
                "EventLoop", "LoopTesting", "RandomTesting", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SimulatorTests",
            dependencies: [
                "Simulator", "LoopTesting", "APNs", "HTTP2", "TLS", "EventLoop", "Transport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FarmStoreTests",
            dependencies: [
                "FarmHarness", "RandomTesting", "FarmStore", "Worker", "LoopTesting", "RESP", "PushModel",
                "EventLoop",
                "Transport",
            ],
            exclude: ["Scripts/effects.txt"], swiftSettings: strict),
        // Breaks farms of real processes, and judges what became of them.
        .target(name: "ChaosChecker", path: "Tests/ChaosChecker", swiftSettings: strict),
        .target(
            name: "Chaos",
            dependencies: [
                "ChaosChecker", "FarmHarness", "RandomTesting", "EventLoop", "Transport", "RESP",
                "PushModel",
            ], path: "Tests/Chaos", swiftSettings: strict),
        .executableTarget(
            name: "chaos-campaign", dependencies: ["Chaos", "EventLoop"],
            path: "Tests/ChaosProgram", swiftSettings: strict),
        .testTarget(
            name: "ChaosTests",
            dependencies: [
                "Chaos", "ChaosChecker", "FarmHarness", "LoopTesting", "EventLoop", "Transport",
                "RandomTesting", "pushfarm", "chaos-campaign",
            ], swiftSettings: strict),
        // How fast the simulator's binary interface reads.
        .executableTarget(
            name: "binary-load", dependencies: ["APNs", "EventLoop", "TLS", "Transport"],
            path: "Tests/BinaryLoad", swiftSettings: strict),
        // What benches share: numbers, tables, pictures, the machine.
        .target(
            name: "BenchKit", dependencies: ["FarmHarness"], path: "Tests/BenchKit", swiftSettings: strict),
        // The farm beside h2load.
        .target(
            name: "FarmBench", dependencies: ["BenchKit", "FarmHarness", "APNs", "TLS", "RESP"],
            path: "Tests/FarmBench", exclude: ["HotPath/recorded.json"], swiftSettings: strict),
        .executableTarget(
            name: "farm-bench", dependencies: ["FarmBench", "BenchKit"], path: "Tests/FarmBenchProgram",
            swiftSettings: strict),
        .testTarget(
            name: "FarmBenchTests",
            dependencies: ["FarmBench", "BenchKit", "FarmHarness", "farm-bench", "pushfarm"],
            swiftSettings: strict),
        // Every command of operators while pushes go through, counted at the gateway.
        .executableTarget(
            name: "farm-drill", dependencies: ["BenchKit", "FarmHarness", "PushModel", "RESP"],
            path: "Tests/Drill", swiftSettings: strict),
        // What the governor makes of a gateway whose weather changes, as a picture.
        .executableTarget(
            name: "governor-picture", dependencies: ["BenchKit", "FarmHarness"],
            path: "Tests/GovernorPicture", swiftSettings: strict),
        // The experiments of the days of the binary interface, with the senders of that time and with the farm.
        .target(
            name: "BinaryBench", dependencies: ["BenchKit", "FarmHarness", "APNs", "TLS", "RESP"],
            path: "Tests/BinaryBench", swiftSettings: strict),
        .executableTarget(
            name: "binary-bench", dependencies: ["BinaryBench", "BenchKit"], path: "Tests/BinaryBenchProgram",
            swiftSettings: strict),
        .testTarget(
            name: "BinaryBenchTests", dependencies: ["BinaryBench", "BenchKit", "RandomTesting"],
            swiftSettings: strict),
        // Manual pages of the program's help texts and the sample configuration.
        .target(name: "Manual", path: "Tests/Manual", swiftSettings: strict),
        .executableTarget(
            name: "pushfarm-manual", dependencies: ["Manual"], path: "Tests/ManualProgram",
            swiftSettings: strict),
        .testTarget(
            name: "ManualTests", dependencies: ["Manual", "FarmHarness", "pushfarm"], swiftSettings: strict),
        // Faults in the sources, one at a time, that some test must notice.
        .target(name: "SourceMutants", path: "Tests/SourceMutants", swiftSettings: strict),
        .executableTarget(
            name: "source-mutants", dependencies: ["SourceMutants", "RandomTesting"],
            path: "Tests/SourceMutantsProgram", swiftSettings: strict),
        .testTarget(name: "SourceMutantsTests", dependencies: ["SourceMutants"], swiftSettings: strict),
        // The files of deploy/.
        .testTarget(
            name: "DeployTests",
            dependencies: [
                "FarmConfiguration", "FarmHarness", "Manual", "pushfarm",
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: strict),
        // Starts the built program, and redis-server.
        .target(
            name: "FarmHarness", dependencies: ["RESP"], path: "Tests/FarmHarness", swiftSettings: strict),
        .testTarget(
            name: "FarmTests",
            dependencies: [
                "pushfarm", "FarmHarness", "FarmPolicy", "Manual", "RandomTesting", "RESP", "TLS",
            ],
            swiftSettings: strict
        ),
    ]
)
