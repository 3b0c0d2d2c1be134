import FarmHarness
import Foundation
import RedisProtocol
import Registry
import Testing

/// Device inputs of producers and of commands reach the registry, whatever process is killed.
@Suite(.startsProcesses(limit: .seconds(300))) struct DeviceTests {
    private static func set(_ id: String, _ token: String, _ more: String = "") -> String {
        #"{"id":"\#(id)","token":"\#(token)"\#(more)}"#
    }

    @Test func `registrations, changes and removals reach the registry, and bad inputs are told`()
        async throws
    {
        let farm = try await Farm()
        _ = try await farm.ready()
        let tokens = Tokens.make(6, seed: 5)
        let more = #","user":"u-7","tags":["sport","old"],"zone":"Asia/Tokyo","lang":"JA","platform":"ios""#
        try farm.push(devices: [
            Self.set("d-1", tokens[0], more), Self.set("d-2", tokens[1], #","user":"u-9""#),
            Self.set("d-3", tokens[2], #","user":"u-9""#), Self.set("d-4", tokens[3]),
            #"{"id":"d-1","add_tags":["news"],"remove_tags":["old"]}"#, #"{"id":"d-4","remove":true}"#,
            #"{"forget_user":"u-9"}"#, Self.set("d-5", tokens[4]), Self.set("d-5", tokens[5]),
            Self.set("bad", tokens[0], #","zone":"Tokyo, Japan""#), "nonsense",
        ])
        try await farm.devicesFinished()
        let devices = try farm.devices()
        #expect(devices.keys.sorted() == ["d-1", "d-5"])
        let device = try #require(devices["d-1"])
        #expect(device.user == "u-7" && device.tags == ["news", "sport"])
        #expect(device.zone == "Asia/Tokyo" && device.lang == "ja" && device.platform == "ios")
        #expect(farm.tokens(of: device) == [tokens[0]])
        #expect(farm.tokens(of: try #require(devices["d-5"])) == [tokens[5]])

        let told = try farm.events("device.refused")
        #expect(told.map { $0["field"] } == ["zone", "device"] && told[0]["device"] == "bad")
        let list = try await farm.run("devices", "refused", "--app", "demo")
        #expect(list.status == 0 && list.output.contains("bad") && list.output.contains("zone"))
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test func `a token that moves to another device leaves the old device`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        let tokens = Tokens.make(2, seed: 6)
        try farm.push(devices: [
            Self.set("old", tokens[0]), Self.set("new", tokens[1]), Self.set("new", tokens[0]),
        ])
        try await farm.devicesFinished()
        let devices = try farm.devices()
        #expect(farm.tokens(of: try #require(devices["new"])) == [tokens[0]])
        #expect(devices["old"]?.addresses.isEmpty ?? true)
    }

    @Test func `a storm of registrations survives kills of intake and coordinator`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        let tokens = Tokens.make(12_000, seed: 7)
        let inputs = tokens.enumerated().map { Self.set("d-\($0)", $1, #","tags":["t\#($0 % 7)"]"#) }
        for part in 0..<4 {
            try farm.push(devices: Array(inputs[part * 3000..<(part + 1) * 3000]))
            try await eventually("some of the inputs are applied") {
                try farm.finishedInputs() > part * 3000
            }
            if part == 2 {
                farm.coordinator.destroy()
                try farm.restartCoordinator()
            } else if part < 2 {
                try await farm.killIntake()
            }
        }
        try await farm.devicesFinished()
        let devices = try farm.devices()
        #expect(devices.count == tokens.count)
        for (number, token) in tokens.enumerated() {
            guard let device = devices["d-\(number)"], farm.tokens(of: device) == [token],
                device.tags == ["t\(number % 7)"]
            else {
                Issue.record("d-\(number): \(String(describing: devices["d-\(number)"]))")
                return
            }
        }
        #expect(try farm.events("device.refused").isEmpty)
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test func `an export that is imported into an empty registry restores all devices`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        let tokens = Tokens.make(60, seed: 31)
        var inputs = (0..<40).map { number in
            Self.set(
                "d-\(number)", tokens[number],
                #","user":"u\#(number / 2)","tags":["t\#(number % 3)"],"zone":"Asia/Tokyo","registered":"#
                    + #"\#(1_600_000_000 + number),"seen":"2026-0\#(number % 9 + 1)-17","since":1700000000"#)
        }
        inputs += (40..<50).map { Self.set("d-\($0)", tokens[$0]) }
        inputs.append(
            #"{"id":"two","addresses":[{"token":"\#(tokens[50])"},{"token":"\#(tokens[51])","environment":"sandbox"}]}"#
        )
        // The token moves, so the first device has none.
        inputs += [Self.set("none", tokens[52]), Self.set("owner", tokens[52])]
        try farm.push(devices: inputs)
        try await farm.devicesFinished()
        func export(_ name: String) async throws -> (path: String, lines: [Substring]) {
            let path = farm.folder.path + "/" + name
            let result = try await farm.run("devices", "export", path, "--app", "demo")
            #expect(result.status == 0, "\(result)")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            return (path, text.split(separator: "\n").sorted())
        }
        let first = try await export("first.ndjson")
        #expect(first.lines.count == 53)
        #expect(first.lines.contains { $0.contains(#""id":"none","addresses":[]"#) })
        #expect(first.lines.contains { $0.contains(#""registered":1600000007,"seen":"2026-08-17""#) })
        try farm.push(devices: (0..<50).map { #"{"id":"d-\#($0)","remove":true}"# })
        try farm.push(devices: ["two", "none", "owner"].map { #"{"id":"\#($0)","remove":true}"# })
        try await farm.devicesFinished()
        #expect(try farm.devices().isEmpty)
        let result = try await farm.run("devices", "import", first.path, "--app", "demo")
        #expect(result.status == 0, "\(result)")
        try await farm.devicesFinished()
        #expect(try await export("second.ndjson").lines == first.lines)
    }

    @Test func `tokens that the gateway refuses leave their devices`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        let good = Tokens.make(1_200, seed: 32)
        // The gateway reports this token as unregistered since a time in the future, which counts as now.
        let unregistered = Tokens.make(1, start: "dead00017fffffff", seed: 33)[0]
        // Before the device registered, this token was unregistered, and then it was registered again.
        let returned = Tokens.make(1, start: "dead00016553f100", seed: 34)[0]
        let bad = Tokens.make(1, start: "bad00000", seed: 35)[0]
        let tokens = ["gone": unregistered, "returned": returned, "bad": bad, "good": good[0]]
        try farm.push(devices: tokens.map { Self.set($0.key, $0.value) })
        try await farm.devicesFinished()
        try farm.push([Job(id: "refused", tokens: Array(tokens.values))])
        #expect(try await farm.finished("refused").failed == 3)
        try await farm.devicesFinished()
        func alive() throws -> [String] { try farm.devices().values.filter(\.isAlive).map(\.id).sorted() }
        #expect(try alive() == ["bad", "good", "returned"])
        // The farm doubts a bad token until enough other tokens were good.
        for number in 0..<3 {
            try farm.push([Job(id: "more-\(number)", tokens: good)])
            _ = try await farm.finished("more-\(number)")
        }
        try await farm.devicesFinished()
        #expect(try alive() == ["good", "returned"])
        #expect(try farm.devices().count == 4)
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test func `prune removes only devices that have not registered for a long time`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        let tokens = Tokens.make(1_300, seed: 36)
        try farm.push(
            devices: tokens.enumerated().map { number, token in
                let old = #","registered":1600000000,"seen":"2021-01-0\#(number % 9 + 1)""#
                return Self.set("d-\(number)", token, number < 1_200 ? old : "")
            })
        try await farm.devicesFinished()
        let counted = try await farm.run("devices", "prune", "--unseen", "270d", "--app", "demo", "--dry-run")
        #expect(counted.status == 0, "\(counted)")
        #expect(counted.output == "1,200 devices of 1,300 would be removed\n")
        #expect(try farm.devices().count == 1_300)
        let pruned = try await farm.run("devices", "prune", "--unseen", "270d", "--app", "demo", "--json")
        #expect(pruned.status == 0 && pruned.output.contains(#""pruned":1200"#), "\(pruned)")
        try await farm.devicesFinished()
        let rest = try farm.devices()
        #expect(rest.count == 100 && rest["d-1200"] != nil)
        #expect(try await farm.run("devices", "prune", "--unseen", "1h", "--app", "demo").status == 2)
    }

    /// Each take of inputs folds at most one week of one partition.
    @Test func `days of seen are folded into weeks, and segments count them, also when the intake is killed`()
        async throws
    {
        let farm = try await Farm()
        _ = try await farm.ready()
        let days = [0, 20, 33, 60, 61, 100, 118, 140, 300]
        let tokens = Tokens.make(days.count + 1, seed: 38)
        let now = Date()
        try farm.push(
            devices: zip(days, tokens).map { day, token in
                let date = now.addingTimeInterval(-86_400 * Double(day)).ISO8601Format().prefix(10)
                return Self.set("d-\(day)", token, #","registered":1600000000,"seen":"\#(date)""#)
            })
        try await farm.devicesFinished()
        for round in 0..<days.count {
            try farm.push(devices: [Self.set("last", tokens[days.count], #","tags":["t\#(round)"]"#)])
            if round == 2 { try await farm.killIntake() }
            try await farm.devicesFinished()
        }
        let client = try farm.redis.client()
        let names = try (0..<16).flatMap { number in
            try client.run("HKEYS", "{pushfarm:demo:r\(number < 10 ? "0" : "")\(number)}:names").array ?? []
        }
        #expect(names.contains { $0.text?.hasPrefix("seen:w") == true })
        for (segment, count) in [("seen<35d", 4), ("seen<120d", 8), ("seen<150d", 9), ("!seen<120d", 2)] {
            let result = try await farm.run("segments", "count", segment, "--app", "demo", "--json")
            #expect(result.output.contains("\"devices\":\(count)"), "\(segment): \(result)")
        }
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    /// Devices that the intake registered, in the segments of their attributes.
    @Test func `segments have the devices that were registered through the inbox`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        let tokens = Tokens.make(900, seed: 37)
        func tags(_ number: Int) -> [String] {
            (number % 2 == 0 ? ["even"] : []) + (number % 3 == 0 ? ["three"] : [])
        }
        let inputs = tokens.enumerated().map { number, token in
            let tags = tags(number).map { "\"\($0)\"" }.joined(separator: ",")
            return Self.set(
                "d-\(number)", token,
                #","tags":[\#(tags)],"lang":"\#(number % 5 == 0 ? "de" : "ja")","zone":"Europe/Berlin""#)
        }
        try farm.push(devices: inputs)
        try await farm.killIntake()
        try farm.push(devices: (0..<30).map { #"{"id":"d-\#($0)","remove":true}"# })
        try farm.push(devices: (30..<60).map { #"{"id":"d-\#($0)","add_tags":["late"]}"# })
        try await farm.devicesFinished()
        let rest = 30..<900
        let expected: [(segment: String, count: Int)] = [
            ("all", 870), ("tag:even", rest.count { $0 % 2 == 0 }),
            ("tag:even & !tag:three", rest.count { $0 % 2 == 0 && $0 % 3 > 0 }),
            ("lang:de | tag:late", rest.count { $0 % 5 == 0 || $0 < 60 }), ("zone:Europe/* & seen<2d", 870),
            ("tag:unknown", 0),
        ]
        for (segment, count) in expected {
            let result = try await farm.run("segments", "count", segment, "--app", "demo", "--json")
            #expect(result.output.contains("\"devices\":\(count)"), "\(segment): \(result)")
        }
        let sample = try await farm.run("segments", "sample", "tag:late & lang:de", "--app", "demo")
        #expect(sample.status == 0, "\(sample)")
        for number in stride(from: 30, to: 60, by: 5) { #expect(sample.output.contains("d-\(number)")) }
        let saved = try await farm.run("segments", "save", "even", "tag:even", "--app", "demo")
        #expect(saved.status == 0, "\(saved)")
        let list = try await farm.run("segments", "list", "--app", "demo")
        #expect(list.output.contains("even") && list.output.contains("tag:even"), "\(list)")
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test func `an import beside kills of the intake registers each device once`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        let tokens = Tokens.make(6_000, seed: 38)
        let text = tokens.enumerated().map { Self.set("d-\($0)", $1, #","user":"u\#($0 / 4)","tags":["a"]"#) }
        let path = try farm.folder.write(text.joined(separator: "\n") + "\n", to: "d.ndjson")
        let arguments = [
            "devices", "import", path, "--app", "demo", "--backlog", "500", "--config",
            farm.configurationFile(),
        ]
        let child = try Child("import", BuiltProgram.path, arguments, in: farm.folder.path)
        for part in 1...4 {
            try await eventually("some of the inputs are applied") {
                try farm.finishedInputs() > part * 1_000
            }
            try await farm.killIntake()
        }
        #expect(try await child.wait() == .exited(0))
        try await farm.devicesFinished()
        let devices = try farm.devices()
        #expect(devices.count == tokens.count)
        #expect(tokens.enumerated().allSatisfy { farm.tokens(of: devices["d-\($0)"]!) == [$1] })
        let fsck = try await farm.run("debug", "fsck")
        #expect(fsck.status == 0, "\(fsck)")
    }

    @Test func `fsck reports and repairs a damaged registry, and a damaged bitmap stops no input`()
        async throws
    {
        let farm = try await Farm()
        _ = try await farm.ready()
        let tokens = Tokens.make(40, seed: 39)
        try farm.push(devices: (0..<20).map { Self.set("d-\($0)", tokens[$0]) })
        try await farm.devicesFinished()
        let client = try farm.redis.client()
        let alive = try #require(
            try client.run("HGET", "{pushfarm:demo:r00}:names", "alive").text)
        func damage() throws {
            try client.run("SET", "{pushfarm:demo:r00}:bits:\(alive):0", "x")
            try client.run("DEL", "{pushfarm:demo:r01}:token:0")
        }
        func damageMore() throws {
            try client.run("HSET", "{pushfarm:demo:r02}:meta", "devices", "99")
            try client.run("HSET", "{pushfarm:demo:r03}:user:0", "strange", "x")
        }
        try damage()
        let fsck = try await farm.run("debug", "fsck", "--json")
        #expect(fsck.status == 1, "\(fsck)")
        for fault in ["bitmap alive, chunk 0, of partition 0 cannot be read", "index token of partition 1"] {
            #expect(fsck.output.contains("registry: ") && fsck.output.contains(fault), "\(fsck)")
        }
        try farm.push(devices: (20..<40).map { Self.set("d-\($0)", tokens[$0]) })
        try await farm.devicesFinished()
        #expect(try farm.devices().count == 40)
        #expect(farm.coordinator.error.contains("a bitmap of the registry is damaged"))
        try damageMore()
        let kills = try await farm.repairWithKills()
        #expect(kills > 3)
        #expect(try await farm.run("debug", "fsck").status == 0)
        #expect(try farm.devices().count == 40)
        try damage()
        try damageMore()
        let repair = try await farm.run("debug", "fsck", "--app", "demo", "--repair")
        #expect(repair.status == 0 && repair.output.contains("registry: corrected 1 bitmap"), "\(repair)")
        let again = try await farm.run("debug", "fsck", "--app", "demo", "--repair")
        #expect(again.status == 0 && again.output == "demo: the accounting is exact\n", "\(again)")
        try farm.push(devices: ["d-1", "d-2"].map { #"{"id":"\#($0)","remove":true}"# })
        try await farm.devicesFinished()
        #expect(try await farm.run("segments", "count", "all", "--app", "demo").output.contains("38"))
    }

    @Test func `commands set, remove and forget devices`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        let tokens = Tokens.make(3, seed: 8)
        for arguments in [
            ["set", "d-1", "--token", tokens[0], "--user", "u", "--tag", "a", "--tag", "b"],
            ["set", "d-2", "--token", tokens[1]], ["set", "d-3", "--token", tokens[2], "--user", "gone"],
            ["set", "d-1", "--add-tag", "c", "--remove-tag", "a"], ["remove", "d-2"],
            ["forget", "--user", "gone"],
        ] {
            let result = try await farm.run(
                ["devices"] + arguments + ["--app", "demo", "--config", farm.configurationFile()])
            #expect(result.status == 0, "\(arguments): \(result)")
        }
        try await farm.devicesFinished()
        let devices = try farm.devices()
        #expect(devices.keys.sorted() == ["d-1"] && devices["d-1"]?.tags == ["b", "c"])
        let wrong = try await farm.run("devices", "set", "d-1", "--token", "xyz", "--app", "demo")
        #expect(wrong.status == 2 && wrong.error.contains("token"), "\(wrong)")
    }

    @Test func `an import that is killed continues, and bad records are named`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        let tokens = Tokens.make(3_000, seed: 9)
        var text = "id,token,user,tags\r\n"
        for (number, token) in tokens.enumerated() {
            text += "d-\(number),\(token),\"u \"\"\(number)\"\", x\",a b\r\n"
        }
        text += "\"bad\nid\",xyz,,\r\n"
        let path = try farm.folder.write(text, to: "d.csv")
        // Without a coordinator, no process takes device inputs, so the import waits after its first portion.
        farm.coordinator.destroy()
        let arguments = [
            "devices", "import", path, "--app", "demo", "--backlog", "400", "--config",
            farm.configurationFile(),
        ]
        let first = try Child("import", BuiltProgram.path, arguments, in: farm.folder.path)
        try await eventually("a portion is pushed, and saved") {
            try farm.redis.client().run("LLEN", "{pushfarm:demo}:devices").integer ?? 0 > 0
        }
        first.signal(SIGKILL)
        _ = try await first.wait()
        try farm.restartCoordinator()
        let result = try await farm.run(arguments)
        #expect(result.status == 1, "\(result)")
        try await farm.devicesFinished()
        let devices = try farm.devices()
        #expect(devices.count == tokens.count)
        #expect(devices["d-77"]?.user == "u \"77\", x" && devices["d-77"]?.tags == ["a", "b"])
        let refused = try String(contentsOfFile: path + ".refused", encoding: .utf8)
        #expect(
            refused.hasPrefix("id,token,user,tags\n# line 3002, id: ")
                && refused.hasSuffix("\n\"bad\nid\",xyz,,\n"))
        #expect(!FileManager.default.fileExists(atPath: path + ".progress"))
    }
}

extension Farm {
    /// Runs the repair of the registry again and again. Each run is killed with SIGKILL at its first correction, before or after
    /// the reply of Redis, until a run has nothing left to correct.
    ///
    /// - Returns: the number of killed runs.
    fileprivate func repairWithKills() async throws -> Int {
        for run in 0..<50 {
            let point = "redis.apply_changes.\(run % 2 == 0 ? "sent" : "after")"
            let repair = try Child(
                "repair-\(run)", BuiltProgram.path,
                ["debug", "fsck", "--app", "demo", "--repair", "--config", configurationFile()],
                environment: ["PUSHFARM_FAILPOINTS": "\(point):kill"], in: folder.path)
            let end = try await repair.wait()
            guard end == .killed(SIGKILL) else {
                #expect(end == .exited(0), "\(repair.output)\(repair.error)")
                return run
            }
        }
        throw Overdue(description: "fifty repairs do not end")
    }

    /// The number of device inputs that are finished since the app was created.
    fileprivate func finishedInputs() throws -> Int {
        let text = try redis.client().run("HGET", "{pushfarm:demo}:device_intake", "finished").text
        return text.flatMap { Int($0) } ?? 0
    }

    fileprivate func tokens(of device: DeviceRecord) -> [String] {
        device.addresses.map { address in
            address.address.bytes.map { String(format: "%02x", $0) }.joined()
        }
    }

    /// All records of the registry, by device id.
    fileprivate func devices(app: String = "demo") throws -> [String: DeviceRecord] {
        let client = try redis.client()
        let keys = RegistryKeys(app: app)
        var found: [String: DeviceRecord] = [:]
        for partition in 0..<keys.count {
            let prefix = String(decoding: keys.prefix(ofPartition: partition), as: UTF8.self)
            let fields = try client.run("HGETALL", prefix + "names").fields
            let names = AttributeNames(fields: fields.map { ($0.key, $0.value) })
            for key in try client.run("KEYS", prefix + "dev:*").array?.compactMap(\.text) ?? [] {
                for record in try client.run("HVALS", key).array ?? [] {
                    let device = try DeviceRecord(bytes: record.bytes ?? [], names: names)
                    #expect(found.updateValue(device, forKey: device.id) == nil, "\(device.id) twice")
                }
            }
        }
        return found
    }
}
