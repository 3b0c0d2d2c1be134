// swift-tools-version: 6.2
import PackageDescription

/// The project's own targets: Swift 6 language mode (the tools version's default), and a warning is an error.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // Tests can make the program fail at named places. Release builds have no such places.
    .define("FAILPOINTS", .when(configuration: .debug)),
    // Checking that no two accesses to a class's property overlap takes a twelfth of a worker's time. Debug
    // builds, which the tests run, do check it.
    .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]

/// Sources, and what checks chaos runs, are optimized in debug builds, too. The tests start hundreds of farms, and a farm of
/// unoptimized code takes three times the processor time.
let optimized: [SwiftSetting] = strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// Targets that read data from outside. Every file of these targets imports CheckedNumbers. Conversions of the
/// standard library that trap, or that take a number without a bound, then do not compile
/// (Sources/Model/CheckedNumbers/TrappingForms.swift).
let checked: [SwiftSetting] =
    optimized + [
        .unsafeFlags(["-Xfrontend", "-import-module", "-Xfrontend", "CheckedNumbers"])
    ]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

// The layers, from the bottom: Sources/Model, Core, Platform, Processes, and the program. A target imports only
// its own layer and lower layers, and a core imports no platform. LayerTests checks this, because a manifest
// cannot read itself.

func layer(
    _ name: String, in folder: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil,
    isChecked: Bool
) -> Target {
    let numbers: [Target.Dependency] = name == "CheckedNumbers" ? [] : ["CheckedNumbers"]
    return .target(
        name: name, dependencies: numbers + dependencies, path: "Sources/\(folder)/\(name)",
        resources: resources, swiftSettings: isChecked ? checked : optimized)
}

func model(_ name: String, isChecked: Bool = true) -> Target {
    layer(name, in: "Model", [], isChecked: isChecked)
}

func core(
    _ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil
) -> Target {
    layer(name, in: "Core", dependencies, resources: resources, isChecked: true)
}

func platform(_ name: String, _ dependencies: [Target.Dependency], isChecked: Bool = true) -> Target {
    layer(name, in: "Platform", dependencies, isChecked: isChecked)
}

func process(_ name: String, _ dependencies: [Target.Dependency], isChecked: Bool = true) -> Target {
    layer(name, in: "Processes", dependencies, isChecked: isChecked)
}

/// A C library: a module map and a shim header.
func library(_ name: String, pkgConfig: String, apt: String, brew: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/Platform/\(name)", pkgConfig: pkgConfig,
        providers: [.apt([apt]), .brew([brew])])
}

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
        // The model, which all other layers use.
        model("CheckedNumbers", isChecked: false),
        model("PushModel"),

        // Cores, without clock, socket and C library.
        core("APNs", ["PushModel"]),
        core("BinaryProtocol", ["PushModel", "APNs", "FarmPolicy", deque]),
        core("FarmPolicy", ["PushModel"]),
        core("ControlChannel", ["PushModel"]),
        core("RedisProtocol", ["PushModel"]),
        core("Delivery", ["PushModel", "APNs", "FarmPolicy", "StoreProtocol", deque]),
        core("Leasing", ["FarmPolicy", "StoreProtocol"]),
        core("Settling", ["PushModel", "FarmPolicy", "StoreProtocol"]),
        core("JobSplitting", ["PushModel", "StoreProtocol"]),
        core("Scheduling", ["PushModel", "Segments"]),
        core("Variants", ["PushModel", "Segments", "Scheduling"]),
        core("Campaigns", ["PushModel", "Scheduling", "Segments", "Variants"]),
        core("DeviceSimulation", ["PushModel"]),
        core("Segments", ["PushModel"]),
        core("Registry", ["PushModel", "RedisProtocol", "StoreProtocol", "Segments"]),
        core("StoreProtocol", ["PushModel", "RedisProtocol"], resources: [.embedInCode("Scripts")]),

        // The platform: one adapter for each C library, and targets on top of the adapters.
        library("CLibuv", pkgConfig: "libuv", apt: "libuv1-dev", brew: "libuv"),
        library("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev", brew: "openssl@3"),
        library("CNghttp2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev", brew: "nghttp2"),
        library("CHiredis", pkgConfig: "hiredis", apt: "libhiredis-dev", brew: "hiredis"),
        platform("POSIX", []),
        platform("EventLoop", ["CLibuv", "POSIX"]),
        platform("OpenSSL", ["PushModel", "COpenSSL", "POSIX"]),
        platform("HTTP2", ["PushModel", "CNghttp2", "POSIX"]),
        platform("RESP", ["PushModel", "CHiredis", "RedisProtocol"]),
        platform("Charts", []),
        platform("Failpoints", ["PushModel", "EventLoop", "POSIX"], isChecked: false),
        platform("Transport", ["EventLoop", "OpenSSL", "POSIX"]),
        platform("Web", ["EventLoop", "OpenSSL", "Transport"]),
        platform("FarmLogging", ["PushModel", "POSIX", logging]),
        platform(
            "FarmConfiguration", ["PushModel", "DeviceSimulation", "FarmLogging", "POSIX", yams, logging]),

        // Processes, which do the I/O and carry out the decisions of the cores.
        process(
            "Supervision", ["ControlChannel", "FarmPolicy", "EventLoop", "Transport", "Failpoints", logging]),
        process(
            "RedisClient",
            [
                "PushModel", "FarmPolicy", "RedisProtocol", "StoreProtocol", "Registry", "Segments", "RESP",
                "EventLoop", "Transport", "OpenSSL", "Failpoints", deque, logging,
            ]),
        process(
            "Gateway",
            [
                "PushModel", "APNs", "BinaryProtocol", "FarmPolicy", "HTTP2", "OpenSSL", "EventLoop",
                "Transport",
            ]),
        process(
            "Worker",
            [
                "PushModel", "APNs", "BinaryProtocol", "FarmPolicy", "Delivery", "ControlChannel",
                "EventLoop",
                "OpenSSL", "Transport", "StoreProtocol", "RedisClient", "Gateway", "Supervision",
                "Failpoints",
                logging, deque,
            ]),
        process(
            "Intake",
            [
                "PushModel", "JobSplitting", "Registry", "Segments", "Scheduling", "Campaigns", "Variants",
                "ControlChannel",
                "FarmPolicy", "EventLoop", "POSIX", "StoreProtocol", "RedisClient", "Supervision",
                "Failpoints", logging,
            ]),
        process(
            "Coordinator",
            [
                "PushModel", "APNs", "BinaryProtocol", "FarmPolicy", "Leasing", "Settling", "ControlChannel",
                "EventLoop", "OpenSSL", "StoreProtocol", "RedisClient",
                "FarmConfiguration", "Supervision", "Transport", "Web", logging,
            ]),
        process(
            "Simulator",
            [
                "PushModel", "APNs", "BinaryProtocol", "DeviceSimulation", "HTTP2", "OpenSSL", "EventLoop",
                "Transport", "POSIX",
                logging,
            ],
            isChecked: false),

        // The program: its commands, and the processes that it runs as.
        .executableTarget(
            name: "pushfarm",
            dependencies: [
                "CheckedNumbers", "Worker", "Intake", "Coordinator", "Simulator", "FarmConfiguration",
                "FarmLogging",
                "FarmPolicy", "StoreProtocol", "RedisClient", "Registry", "Segments",
                "EventLoop", "Supervision",
                "PushModel", "POSIX", "Transport", "OpenSSL", "RESP", "RedisProtocol", "APNs",
                "BinaryProtocol", "Gateway", "Campaigns", "Scheduling", "Variants", "DeviceSimulation",
                "Charts",
                argumentParser,
                logging,
            ],
            swiftSettings: checked,
            linkerSettings: [
                // Packed relocations take a few kilobytes. Ordinary relocations take two megabytes, which every
                // worker would page in.
                .unsafeFlags(
                    ["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"],
                    .when(platforms: [.linux], configuration: .release))
            ]),

        // Tests.
        .testTarget(
            name: "APNsTests", dependencies: ["RandomTesting", "APNs", "PushModel"], swiftSettings: strict),
        .testTarget(
            name: "BinaryProtocolTests",
            dependencies: ["RandomTesting", "BinaryProtocol", "APNs", "PushModel"], swiftSettings: strict),
        .testTarget(
            name: "CheckedNumbersTests", dependencies: ["CheckedNumbers", "FarmHarness"],
            swiftSettings: strict),
        .testTarget(
            name: "FarmPolicyTests", dependencies: ["RandomTesting", "FarmPolicy", "PushModel"],
            swiftSettings: strict),
        .testTarget(
            name: "ControlChannelTests", dependencies: ["RandomTesting", "ControlChannel", "PushModel"],
            swiftSettings: strict),
        .testTarget(
            name: "OpenSSLTests", dependencies: ["OpenSSL", "Simulator", "RandomTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "SchedulingTests", dependencies: ["RandomTesting", "Scheduling", "Segments", "PushModel"],
            swiftSettings: strict),
        .testTarget(
            name: "VariantsTests", dependencies: ["Variants", "Segments", "Scheduling", "PushModel"],
            swiftSettings: strict),
        .testTarget(
            name: "CampaignsTests",
            dependencies: ["RandomTesting", "Campaigns", "Scheduling", "Segments", "Variants", "PushModel"],
            swiftSettings: strict),
        .testTarget(
            name: "DeviceSimulationTests", dependencies: ["DeviceSimulation", "PushModel", "RandomTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "SegmentsTests", dependencies: ["Segments", "PushModel"], swiftSettings: strict),
        .testTarget(
            name: "RegistryTests",
            dependencies: [
                "RandomTesting", "Registry", "RedisProtocol", "StoreProtocol", "Segments", "PushModel",
            ],
            swiftSettings: strict),
        .testTarget(name: "ChartsTests", dependencies: ["Charts"], swiftSettings: strict),
        .testTarget(
            name: "WebTests",
            dependencies: ["Web", "OpenSSL", "Transport", "EventLoop", "Simulator", "LoopTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "PushModelTests", dependencies: ["RandomTesting", "PushModel"], swiftSettings: strict),
        .testTarget(
            name: "RESPTests", dependencies: ["RandomTesting", "RESP", "RedisProtocol"], swiftSettings: strict
        ),
        .testTarget(
            name: "FarmLoggingTests",
            dependencies: ["FarmLogging", logging],
            swiftSettings: strict),
        .testTarget(
            name: "pushfarmTests",
            dependencies: [
                "pushfarm", "PushModel", "StoreProtocol", "RedisClient", "Registry", "RegistryTesting",
                "Scheduling",
                "Segments", "Campaigns", "FarmConfiguration", "FarmHarness", "RESP", "RedisProtocol",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FarmConfigurationTests",
            dependencies: ["FarmHarness", "RandomTesting", "FarmConfiguration", "DeviceSimulation"],
            swiftSettings: strict),
        .testTarget(name: "FailpointsTests", dependencies: ["Failpoints"], swiftSettings: strict),
        .testTarget(
            name: "SupervisionTests",
            dependencies: [
                "Supervision", "ControlChannel", "FarmPolicy", "EventLoop", "FarmHarness", "LoopTesting",
                logging,
            ],
            swiftSettings: strict),
        .testTarget(name: "HTTP2Tests", dependencies: ["RandomTesting", "HTTP2"], swiftSettings: strict),
        .testTarget(
            name: "EventLoopTests", dependencies: ["EventLoop", "Transport", "LoopTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "TransportTests",
            dependencies: ["Transport", "OpenSSL", "EventLoop", "Simulator", "LoopTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "WorkerTests",
            dependencies: [
                "FarmHarness", "RandomTesting", "BatchTesting",
                "Worker", "Delivery", "Coordinator", "FarmPolicy", "StoreProtocol", "RedisClient", "Gateway",
                "Simulator",
                "ControlChannel",
                "APNs", "BinaryProtocol", "HTTP2", "PushModel", "RESP", "RedisProtocol",
                "OpenSSL", "Transport",
                "EventLoop", "LoopTesting", logging,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "Gateway", "Simulator", "APNs", "BinaryProtocol", "FarmPolicy", "HTTP2", "PushModel",
                "OpenSSL", "EventLoop",
                "Transport", "LoopTesting", "RandomTesting", logging,
            ],
            swiftSettings: strict),
        .target(
            name: "LoopTesting", dependencies: ["EventLoop"], path: "Tests/Support/LoopTesting",
            swiftSettings: strict
        ),
        .target(
            name: "BatchTesting", dependencies: ["PushModel"], path: "Tests/Support/BatchTesting",
            swiftSettings: strict),
        // Registries of devices, written to Redis by the documented layout.
        .target(
            name: "RegistryTesting",
            dependencies: ["Registry", "Segments", "StoreProtocol", "RedisProtocol", "PushModel"],
            path: "Tests/Support/RegistryTesting", swiftSettings: optimized),
        .target(name: "RandomTesting", path: "Tests/Support/RandomTesting", swiftSettings: optimized),
        // Decoders of foreign bytes, for `make fuzz` (libFuzzer) and for FuzzingTests (a plain loop).
        .target(
            name: "Fuzzing",
            dependencies: [
                "PushModel", "APNs", "BinaryProtocol", "ControlChannel", "RESP", "RedisProtocol",
                "StoreProtocol", "RedisClient", "Scheduling", "Registry", "Segments", "Variants",
                "FarmConfiguration", "HTTP2",
                "Transport", "RandomTesting",
            ],
            path: "Tests/Tools/Fuzzing", exclude: ["Corpora", "Crashers", "run"], swiftSettings: strict),
        .systemLibrary(name: "CFuzzer", path: "Tests/Tools/CFuzzer"),
        .executableTarget(
            name: "pushfarm-fuzz", dependencies: ["Fuzzing", "CFuzzer"], path: "Tests/Tools/FuzzingProgram",
            swiftSettings: strict),
        .testTarget(
            name: "FuzzingTests", dependencies: ["Fuzzing", "FarmHarness", "pushfarm-fuzz"],
            swiftSettings: strict),
        .testTarget(
            name: "DeliveryTests",
            dependencies: [
                "BatchTesting", "RandomTesting", "LoopTesting", "Delivery", "APNs", "FarmPolicy", "PushModel",
                "StoreProtocol",
                "RedisProtocol", "EventLoop",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "LeasingTests",
            dependencies: [
                "FarmHarness", "RandomTesting", "Leasing", "FarmPolicy", "StoreProtocol", "RedisProtocol",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SettlingTests",
            dependencies: [
                "BatchTesting", "RandomTesting", "Settling", "FarmPolicy", "PushModel", "StoreProtocol",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CoordinatorTests",
            dependencies: [
                "Coordinator", "FarmConfiguration", "FarmHarness", "StoreProtocol", "RedisClient",
                "FarmPolicy", "PushModel",
                "RESP", "RedisProtocol",
                "EventLoop", "LoopTesting", "RandomTesting", logging,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "IntakeTests",
            dependencies: [
                "FarmHarness", "Intake", "JobSplitting", "Registry", "RegistryTesting", "Campaigns",
                "Scheduling", "Segments", "POSIX", "Coordinator", "ControlChannel", "StoreProtocol",
                "RedisClient", "FarmPolicy", "PushModel", "RESP", "RedisProtocol", "EventLoop", "LoopTesting",
                "RandomTesting", logging,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SimulatorTests",
            dependencies: [
                "Simulator", "LoopTesting", "RandomTesting", "PushModel", "APNs", "BinaryProtocol",
                "DeviceSimulation", "HTTP2",
                "OpenSSL",
                "EventLoop",
                "Transport",
                logging,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "StoreProtocolTests",
            dependencies: ["FarmHarness", "StoreProtocol", "RedisProtocol", "PushModel"],
            swiftSettings: strict),
        .testTarget(
            name: "RedisClientTests",
            dependencies: [
                "FarmHarness", "RandomTesting", "FarmPolicy", "StoreProtocol", "RedisClient", "Delivery",
                "Registry", "RegistryTesting", "Segments", "LoopTesting", "RESP", "RedisProtocol",
                "PushModel",
                logging,
                "EventLoop",
                "Transport",
            ],
            exclude: ["Scripts/effects.txt"], swiftSettings: strict),
        // Causes faults in farms of real processes, and checks the outcomes of their pushes.
        .target(name: "ChaosChecker", path: "Tests/Tools/ChaosChecker", swiftSettings: optimized),
        .target(
            name: "Chaos",
            dependencies: [
                "Charts",
                "ChaosChecker", "FarmHarness", "RandomTesting", "EventLoop", "Transport", "RESP",
                "RedisProtocol",
                "PushModel", "OpenSSL",
            ], path: "Tests/Tools/Chaos", swiftSettings: optimized),
        .executableTarget(
            name: "chaos-run", dependencies: ["Chaos", "EventLoop"],
            path: "Tests/Tools/ChaosProgram", swiftSettings: strict),
        .testTarget(
            name: "ChaosTests",
            dependencies: [
                "Chaos", "ChaosChecker", "FarmHarness", "LoopTesting", "EventLoop", "Transport",
                "RandomTesting", "pushfarm", "chaos-run",
            ], swiftSettings: strict),
        // Measures how fast the simulator's binary interface reads.
        .executableTarget(
            name: "binary-load",
            dependencies: ["APNs", "BinaryProtocol", "EventLoop", "OpenSSL", "Transport"],
            path: "Tests/Tools/BinaryLoad", swiftSettings: strict),
        // Measures processor time and memory of the registry of devices.
        .executableTarget(
            name: "registry-load",
            dependencies: [
                "FarmHarness", "RandomTesting", "Registry", "StoreProtocol", "RedisProtocol",
            ],
            path: "Tests/Tools/RegistryLoad", swiftSettings: strict),
        // Helpers of the benches: numbers, tables, pictures, and facts about the machine.
        .target(
            name: "BenchKit", dependencies: ["FarmHarness"], path: "Tests/Tools/BenchKit",
            swiftSettings: strict),
        // Compares the farm's throughput with the throughput of h2load.
        .target(
            name: "FarmBench",
            dependencies: ["BenchKit", "Charts", "FarmHarness", "APNs", "OpenSSL", "RESP", "RedisProtocol"],
            path: "Tests/Tools/FarmBench", exclude: ["HotPath/recorded.json"], swiftSettings: strict),
        .executableTarget(
            name: "farm-bench", dependencies: ["FarmBench", "BenchKit"], path: "Tests/Tools/FarmBenchProgram",
            swiftSettings: strict),
        .testTarget(
            name: "FarmBenchTests",
            dependencies: ["FarmBench", "BenchKit", "FarmHarness", "PushModel", "farm-bench", "pushfarm"],
            swiftSettings: strict),
        // Runs every operators' command while pushes are sent, and counts the pushes at the gateway.
        .executableTarget(
            name: "farm-drill",
            dependencies: ["BenchKit", "FarmHarness", "PushModel", "RESP", "RedisProtocol"],
            path: "Tests/Tools/Drill", swiftSettings: strict),
        // Draws the governor's decisions for a gateway whose latency and limits change.
        .executableTarget(
            name: "governor-picture", dependencies: ["BenchKit", "Charts", "FarmHarness"],
            path: "Tests/Tools/GovernorPicture", swiftSettings: strict),
        // Plays nights in which a newspaper sends an edition to simulated devices.
        .executableTarget(
            name: "newspaper-nights", dependencies: ["BenchKit", "Charts", "FarmHarness"],
            path: "Tests/Tools/Newspaper", swiftSettings: strict),
        // Repeats old experiments with the binary interface, with the senders of that time and with the farm.
        .target(
            name: "BinaryBench",
            dependencies: [
                "Charts",
                "BenchKit", "FarmHarness", "APNs", "BinaryProtocol", "OpenSSL", "RESP", "RedisProtocol",
            ],
            path: "Tests/Tools/BinaryBench", swiftSettings: strict),
        .executableTarget(
            name: "binary-bench", dependencies: ["BinaryBench", "BenchKit"],
            path: "Tests/Tools/BinaryBenchProgram",
            swiftSettings: strict),
        .testTarget(
            name: "BinaryBenchTests", dependencies: ["BinaryBench", "BenchKit", "RandomTesting"],
            swiftSettings: strict),
        // Generates manual pages from the program's help texts and the sample configuration.
        .target(name: "Manual", path: "Tests/Tools/Manual", swiftSettings: strict),
        .executableTarget(
            name: "pushfarm-manual", dependencies: ["Manual"], path: "Tests/Tools/ManualProgram",
            swiftSettings: strict),
        .testTarget(
            name: "ManualTests", dependencies: ["Manual", "FarmHarness", "pushfarm"], swiftSettings: strict),
        // Inserts faults into the sources, one at a time. Some test must detect each fault.
        .target(name: "SourceMutants", path: "Tests/Tools/SourceMutants", swiftSettings: strict),
        .executableTarget(
            name: "source-mutants", dependencies: ["SourceMutants", "RandomTesting"],
            path: "Tests/Tools/SourceMutantsProgram", swiftSettings: strict),
        .testTarget(name: "SourceMutantsTests", dependencies: ["SourceMutants"], swiftSettings: strict),
        // Tests of the files in deploy/.
        .testTarget(
            name: "DeployTests",
            dependencies: [
                "FarmConfiguration", "FarmHarness", "Manual", "pushfarm",
                yams,
            ],
            swiftSettings: strict),
        // Starts the built program and redis-server, for tests.
        .target(
            name: "FarmHarness", dependencies: ["RESP", "RedisProtocol"], path: "Tests/Support/FarmHarness",
            swiftSettings: optimized),
        .testTarget(
            name: "FarmTests",
            dependencies: [
                "pushfarm", "FarmHarness", "FarmPolicy", "Manual", "RandomTesting", "Registry", "RESP",
                "RedisProtocol", "OpenSSL", "Simulator", "Campaigns", "StoreProtocol", "Variants",
            ],
            exclude: ["Recorded"],
            swiftSettings: strict
        ),
    ]
)
