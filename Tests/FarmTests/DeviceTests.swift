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
                farm.kill(child: try await farm.ready().intake.pid)
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
    fileprivate func push(devices inputs: [String], app: String = "demo") throws {
        let client = try redis.client()
        for start in stride(from: 0, to: inputs.count, by: 500) {
            let part = inputs[start..<min(start + 500, inputs.count)]
            try client.run(["RPUSH", "{pushfarm:\(app)}:devices"] + part)
        }
    }

    fileprivate func devicesFinished(app: String = "demo") async throws {
        let client = try redis.client()
        try await eventually("all device inputs are finished", within: .seconds(120)) {
            let lists = try ["devices", "devices_taken"].map {
                try client.run("LLEN", "{pushfarm:\(app)}:\($0)").integer
            }
            return lists == [0, 0]
        }
    }

    /// The number of device inputs that are finished since the app was created.
    fileprivate func finishedInputs() throws -> Int {
        let text = try redis.client().run("HGET", "{pushfarm:demo}:device_inputs", "finished").text
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
