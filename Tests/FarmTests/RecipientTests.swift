import FarmHarness
import Foundation
import Testing

/// Jobs that name users or devices, with the built program. The simulator's ledger shows which tokens got a push.
@Suite(.startsProcesses(limit: .seconds(300))) struct RecipientTests {
    private static let payload = #""payload":{"aps":{"alert":"Hi"}}"#

    /// Registers a device for each token. The user of three devices in a row is the same.
    private static func inputs(_ tokens: [String]) -> [String] {
        tokens.enumerated().map { number, token in
            #"{"id":"d-\#(number)","token":"\#(token)","user":"u-\#(number / 3)"}"#
        }
    }

    @Test func `users and devices get one push a device, also when the intake is killed`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        let tokens = Tokens.make(3_000, seed: 21)
        let client = try farm.redis.client()
        for start in stride(from: 0, to: tokens.count, by: 500) {
            let inputs = Array(Self.inputs(tokens)[start..<start + 500])
            try client.run(["RPUSH", "{pushfarm:demo}:devices"] + inputs)
        }
        try await eventually("all devices are registered", within: .seconds(120)) {
            try ["devices", "devices_taken"].allSatisfy {
                try client.run("LLEN", "{pushfarm:demo}:\($0)").integer == 0
            }
        }
        let users = (0..<1_010).map { "\"u-\($0)\"" }.joined(separator: ",")
        try farm.push(#"{"id":"all","users":[\#(users)],\#(Self.payload)}"#)
        try await farm.killIntake()
        for number in 0..<40 {
            try farm.push(#"{"id":"chat-\#(number)","users":["u-\#(number)"],\#(Self.payload)}"#)
            if number == 20 { try await farm.killIntake() }
        }
        try farm.push(
            #"{"id":"values","payload":{"aps":{"alert":"Hi {{n}}"}},"#
                + #""pushes":[{"device":"d-5","values":{"n":1}},{"device":"d-none","values":{"n":2}}]}"#)
        let all = try await farm.finished("all")
        #expect(all.submitted == 3_000 && all.delivered == 3_000 && all.unknownRecipients == 10)
        #expect(all.addsUp)
        for number in 0..<40 {
            let chat = try await farm.finished("chat-\(number)")
            #expect(chat.submitted == 3 && chat.delivered == 3 && chat.unknownRecipients == 0)
        }
        let values = try await farm.finished("values")
        #expect(values.delivered == 1 && values.unknownRecipients == 1)
        let events = Dictionary(
            try farm.events("job.finished").map { ($0["job"] ?? "", $0["unknown_recipients"]) },
            uniquingKeysWith: { first, _ in first })
        #expect(events["all"] == "10" && events["values"] == "1" && events["chat-0"] == .some(nil))
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0)
        let accepted = Dictionary(grouping: ledger.lines.filter { $0.status == 200 }, by: \.token)
        #expect(accepted[tokens[0]]?.count == 2 && accepted[tokens[5]]?.count == 3)
        #expect(accepted[tokens[2_999]]?.count == 1)
        let shown = try await farm.run("job", "all")
        #expect(shown.output.contains("unknown recipients"), "\(shown)")
        let known = try await farm.run(
            "push", "--app", "demo", "--alert", "Hi", "--wait", "--user", "u-0", "u-1")
        #expect(known.status == 0, "\(known)")
        let unknown = try await farm.run(
            "push", "--app", "demo", "--alert", "Hi", "--wait", "--device", "d-0", "d-none")
        #expect(unknown.status == 1 && unknown.output.contains("unknown recipients"), "\(unknown)")
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test func `a push to a stored device ignores what the registry knows better, but not an operator`()
        async throws
    {
        let farm = try await Farm()
        _ = try await farm.ready()
        // The simulator responds 410 with a timestamp of 2023, so the device of today keeps its token.
        let token = Tokens.make(1, start: "dead00016553f100", seed: 23)[0]
        try farm.push(devices: [#"{"id":"d-1","token":"\#(token)"}"#])
        try await farm.devicesFinished()
        func reason(_ id: String, _ recipients: String) async throws -> String? {
            try farm.push(#"{"id":"\#(id)",\#(recipients),\#(Self.payload)}"#)
            _ = try await farm.finished(id)
            return try farm.events("push.failed").last { $0["job"] == id }?["reason"]
        }
        #expect(try await reason("first", #""devices":["d-1"]"#) == "Unregistered")
        #expect(try await reason("tokens", #""tokens":["\#(token)"]"#) == "suppressed")
        #expect(try await reason("again", #""devices":["d-1"]"#) == "Unregistered")
        let campaign = #"{"id":"all","segment":"all","payload":{"aps":{}}}"#
        try farm.redis.client().run("RPUSH", "{pushfarm:demo}:campaigns", campaign)
        #expect(try await farm.finished("all").failed == 1)
        #expect(try farm.events("push.failed").last?["reason"] == "Unregistered")
        #expect(try await farm.run("suppressed", "add", "--token", token).status == 0)
        #expect(try await reason("operator", #""devices":["d-1"]"#) == "suppressed")
    }

    @Test func `while another Redis with the registry is stopped, jobs with tokens pass jobs with users`()
        async throws
    {
        let other = try RedisServer(scratch: [])
        let registry = try BlockingRedisClient(other.socket, waitsForServer: true)
        let farm = try await Farm(
            Farm.Options(appLines: ["registry: unix://\(other.socket)", "background_budget: 3/h"]))
        _ = try await farm.ready()
        let tokens = Tokens.make(40, seed: 22)
        let client = try farm.redis.client()
        func finished() async throws {
            try await eventually("all devices are registered", within: .seconds(60)) {
                try ["devices", "devices_taken"].allSatisfy {
                    try client.run("LLEN", "{pushfarm:demo}:\($0)").integer == 0
                }
            }
        }
        try client.run(["RPUSH", "{pushfarm:demo}:devices"] + Self.inputs(Array(tokens[..<20])))
        try await finished()
        #expect(try client.run("KEYS", "{pushfarm:demo:r*").array?.isEmpty == true)
        #expect(try registry.run("KEYS", "{pushfarm:demo:r*").array?.isEmpty == false)
        let shown = try await farm.run(
            "devices", "show", "d-1", "--app", "demo", "--config", farm.configurationFile())
        #expect(shown.status == 0 && shown.output.contains(tokens[1]), "\(shown)")

        let list = try farm.folder.write("token\n" + tokens.map { $0 + "\n" }.joined(), to: "list.csv")
        let upload = try await farm.run(
            "lists", "upload", list, "--name", "list", "--app", "demo", "--config", farm.configurationFile())
        #expect(upload.status == 0, "\(upload)")

        other.process.signal(SIGSTOP)
        for audience in [#""segment":"all""#, #""list":"list""#] {
            let id = String(audience.dropFirst().prefix { $0 != "\"" })
            try farm.push(campaign: #"{"id":"\#(id)",\#(audience),\#(Self.payload)}"#)
        }
        try farm.push(#"{"id":"chat","users":["u-0","u-9"],\#(Self.payload)}"#)
        try client.run(["RPUSH", "{pushfarm:demo}:devices"] + Self.inputs(tokens))
        try farm.push([Job(id: "plain", tokens: Array(tokens[20...]))])
        #expect(try await farm.finished("plain").delivered == 20)
        #expect(try client.run("EXISTS", "{pushfarm:demo}:job:chat").integer == 0)
        #expect(try await farm.finished("list").delivered == 40)
        #expect(try farm.campaign("segment")?.state == .scheduled)
        try await eventually("the look-up of users waits for the registry") {
            farm.coordinator.error.contains("waiting for the registry's Redis")
        }
        try await eventually("the alert fires", within: .seconds(60)) {
            try farm.events("alert.fired").contains { $0["alert"] == "registry_unreachable" }
        }
        let background = #""push_type":"background","payload":{"aps":{"content-available":1}}"#
        try farm.push(#"{"id":"background","tokens":["\#(tokens[0])"],\#(background)}"#)
        #expect(try await farm.finished("background").delivered == 1)
        other.process.signal(SIGCONT)
        let chat = try await farm.finished("chat")
        #expect(try await farm.finished("segment").delivered >= 20)
        try await eventually("the alert clears", within: .seconds(60)) {
            try farm.events("alert.cleared").contains { $0["alert"] == "registry_unreachable" }
        }
        #expect(chat.delivered >= 3 && chat.delivered + 3 * chat.unknownRecipients == 6, "\(chat)")
        try await finished()
        let fsck = try await farm.run("debug", "fsck", "--config", farm.configurationFile())
        #expect(fsck.status == 0, "\(fsck)")
    }
}
