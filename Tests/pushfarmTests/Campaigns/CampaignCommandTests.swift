import FarmHarness
import Foundation
import Registry
import RegistryTesting
import Testing

/// The commands of `pushfarm campaigns`, on a private Redis without coordinators.
@Suite(.timeLimit(.minutes(5))) struct CampaignCommandTests {
    /// 40 devices that get pushes: 20 in Berlin, 10 in Tokyo, 10 without a zone. Every second device has the tag sport.
    private static func devices() throws -> StoredDevices {
        try StoredDevices(
            (0..<40).map { number in
                var details: [DeviceRecord.Detail: String] = [.platform: number < 30 ? "ios" : "ipados"]
                if number < 30 { details[.zone] = number < 20 ? "Europe/Berlin" : "Asia/Tokyo" }
                return .made(
                    number, user: nil, tags: number.isMultiple(of: 2) ? ["sport"] : [], details: details,
                    addresses: 1, day: StoredDevices.today)
            })
    }

    /// A file with a definition, in a folder that lives as long as the value.
    private struct Definition {
        private let folder: TestFolder
        let path: String

        init(_ text: String) throws {
            folder = try TestFolder()
            path = folder.path + "/campaign.json"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }
    }

    private static let edition = """
        {"id": "ed-1", "segment": "tag:sport", "payload": {"aps": {"alert": "Hi"}},
         "window": {"from": "05:00", "to": "07:00", "zone": "device"}, "zone": "Europe/Berlin"}
        """

    @Test func `show tells what it cannot read, and shows no later job with the id of the campaign`()
        async throws
    {
        let devices = try Self.devices()
        let file = try Definition(
            #"{"id":"bg","segment":"tag:sport","push_type":"background","rate":9,"#
                + #""payload":{"aps":{"content-available":1}}}"#)
        #expect(try await devices.run("campaigns", "create", file.path, "--app", "demo").status == 0)
        try devices.redis.run(
            "HSET", "{pushfarm:demo}:campaign:bg", "state", "finished", "finished_at", "9", "accepted:1", "7")
        try devices.redis.run(
            "HSET", "{pushfarm:demo}:job:bg", "state", "open", "accepted", "5", "created_at", "9")
        let shown = try await devices.document("campaigns", "show", "bg")
        #expect((shown["job"] as? [String: Any])?["accepted"] as? Int == 5, "\(shown)")
        #expect(shown["unreachable"] as? Int == 0 && shown["unreachable_unknown"] is NSNull, "\(shown)")
        try devices.redis.run("HSET", "{pushfarm:demo}:job:bg", "created_at", "10")
        try devices.redis.run("DEL", "{pushfarm:demo}:registry")
        try devices.redis.run("SET", "{pushfarm:demo}:registry", "x")
        let later = try await devices.document("campaigns", "show", "bg")
        #expect(later["job"] is NSNull && later["accepted"] as? Int == 7, "\(later)")
        #expect(later["unreachable"] is NSNull && later["unreachable_unknown"] is String, "\(later)")
        let text = try await devices.run("campaigns", "show", "bg")
        #expect(text.status == 0 && text.output.contains("unreachable unknown: "), "\(text)")
    }

    @Test func `plan shows devices by zone and platform, and the first and the last push`() async throws {
        let (devices, file) = (try Self.devices(), try Definition(Self.edition))
        let plan = try await devices.document("campaigns", "plan", file.path, "--app", "demo")
        #expect(plan["devices"] as? Int == 20 && plan["all_devices"] as? Int == 40, "\(plan)")
        #expect(plan["zones"] as? [String: Int] == ["Europe/Berlin": 10, "Asia/Tokyo": 5], "\(plan)")
        #expect(plan["without_zone"] as? Int == 5, "\(plan)")
        #expect(plan["platforms"] as? [String: Int] == ["ios": 15, "ipados": 5], "\(plan)")
        let (first, last) = (
            try #require(plan["first_push"] as? Int), try #require(plan["last_push"] as? Int)
        )
        #expect(first < last)
        let rows = try #require(plan["rows"] as? [[String: Any]])
        #expect(rows.reduce(0) { $0 + ($1["pushes"] as? Int ?? 0) } == 20)

        let text = try await devices.run("campaigns", "plan", file.path, "--app", "demo", "--requests", "3")
        #expect(text.status == 0, "\(text)")
        #expect(text.output.contains("20 of 40 devices"), "\(text)")
        #expect(text.output.contains("5, sent in Europe/Berlin"), "\(text)")
        #expect(
            text.output.contains("Asia/Tokyo") && text.output.contains("if each device sends 3"), "\(text)")
        #expect(text.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
        #expect(try devices.redis.run("EXISTS", "{pushfarm:demo}:campaign_ids").integer == 0)
    }

    @Test func `plan names the zones in which the whole window is quiet`() async throws {
        let (devices, file) = (
            try Self.devices(),
            try Definition(
                """
                {"id": "late", "segment": "tag:sport", "payload": {"aps": {}}, "start_at": "2999-01-01",
                 "window": {"from": "21:00", "to": "23:00", "zone": "Europe/Berlin"}, "zone": "Europe/Berlin",
                 "quiet": {"from": "22:00", "to": "07:00"}}
                """)
        )
        let plan = try await devices.document("campaigns", "plan", file.path, "--app", "demo")
        #expect(plan["quiet_zones"] as? [String: Int] == ["Asia/Tokyo": 5], "\(plan)")
        #expect(plan["delayed_zones"] as? [String: Int] == [:], "\(plan)")
        let text = try await devices.run("campaigns", "plan", file.path, "--app", "demo")
        #expect(text.output.contains("5 devices, where the whole window is quiet:"), "\(text)")
        #expect(text.output.contains("Asia/Tokyo 5\n"), "\(text)")
        #expect(text.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
    }

    @Test func `a campaign that does not fit is refused with the arithmetic`() async throws {
        let devices = try Self.devices()
        let file = try Definition(
            """
            {"id": "slow", "segment": "all", "payload": {"aps": {}}, "rate": 0.001,
             "window": {"from": "05:00", "to": "07:00", "zone": "Europe/Berlin"}, "start_at": "2999-01-01"}
            """)
        let reason =
            "40 pushes at 0.001 a second need 11 h 6 min; the window 05:00–07:00 Europe/Berlin has 2 h"
        let plan = try await devices.run("campaigns", "plan", file.path, "--app", "demo")
        #expect(plan.status == 1 && plan.error.contains(reason), "\(plan)")
        let started = try await devices.run("campaigns", "create", file.path, "--app", "demo", "--start")
        #expect(started.status == 1 && started.error.contains(reason), "\(started)")
        #expect(try devices.redis.run("EXISTS", "{pushfarm:demo}:campaign:slow").integer == 0)

        let draft = try await devices.run("campaigns", "create", file.path, "--app", "demo")
        #expect(draft.status == 0, "\(draft)")
        let start = try await devices.run("campaigns", "start", "slow")
        #expect(start.status == 1 && start.error.contains(reason), "\(start)")
        let shown = try await devices.document("campaigns", "show", "slow")
        #expect(shown["state"] as? String == "draft", "\(shown)")
    }

    @Test func `a fault has the line and the column, and nothing is stored`() async throws {
        let devices = try Self.devices()
        let faults = [
            ("{\"segment\": \"all\",\n \"paylod\": {}}", ":2:2: paylod: there is no field \"paylod\""),
            ("{\"segment\": \"all\", \"payload\": {},\n\n  \"rate\": 0}", ":3:11: rate:"),
            (
                "{\"segment\": \"all\", \"payload\": {}, \"merge\": \"m\"}",
                "merge: \"merge\" needs \"push_type\""
            ),
            (
                "{\"segment\": \"all\", \"payload\": {\"aps\": {}},\n \"zone\": \"Europe/Belin\"}",
                ":2:10: zone: there is no time zone"
            ),
            (
                "{\"segment\": \"all\",\n \"payload\": {\"aps\": {\"alert\": \"{{nick}}\"}}}",
                "payload: a device has no attribute \"nick\""
            ),
        ]
        for (text, expected) in faults {
            let file = try Definition(text)
            for command in ["create", "plan"] {
                let found = try await devices.run("campaigns", command, file.path, "--app", "demo")
                #expect(found.status == 2 && found.error.contains(expected), "\(found)")
            }
        }
        let none = try await devices.run("campaigns", "create", "/no/file", "--app", "demo")
        #expect(none.status == 2, "\(none)")
        #expect(try devices.redis.run("EXISTS", "{pushfarm:demo}:campaign_ids").integer == 0)
    }

    @Test func `a campaign is created, started, paused, resumed and cancelled`() async throws {
        let (devices, file) = (try Self.devices(), try Definition(Self.edition))
        let dry = try await devices.run("campaigns", "create", file.path, "--app", "demo", "--dry-run")
        #expect(dry.output == "demo: campaign ed-1 would be created\n", "\(dry)")
        #expect(try devices.redis.run("EXISTS", "{pushfarm:demo}:campaign:ed-1").integer == 0)
        let created = try await devices.run("campaigns", "create", file.path, "--app", "demo")
        #expect(created.output == "demo: campaign ed-1 created\n", "\(created)")
        let again = try await devices.run("campaigns", "create", file.path, "--app", "demo")
        #expect(again.status == 1 && again.error.contains("exists already: draft"), "\(again)")
        let early = try await devices.run("campaigns", "pause", "ed-1")
        #expect(early.status == 1 && early.error.contains("is a draft"), "\(early)")

        let plan = try await devices.document("campaigns", "plan", "ed-1")
        #expect(plan["devices"] as? Int == 20, "\(plan)")
        let started = try await devices.document("campaigns", "start", "ed-1")
        #expect(started["changed"] as? Bool == true, "\(started)")
        let twice = try await devices.run("campaigns", "start", "ed-1")
        #expect(twice.output == "campaign ed-1 of demo was started already\n", "\(twice)")

        let paused = try await devices.document("campaigns", "pause", "ed-1", "--reason", "wrong day")
        #expect(paused["changed"] as? Bool == true, "\(paused)")
        let shown = try await devices.document("campaigns", "show", "ed-1")
        #expect((shown["paused"] as? String)?.contains("wrong day") == true, "\(shown)")
        let list = try await devices.run("campaigns", "list")
        #expect(list.output.contains("ed-1") && list.output.contains("paused"), "\(list)")
        #expect(list.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(list)")
        let resumed = try await devices.document("campaigns", "resume", "ed-1")
        #expect(resumed["changed"] as? Bool == true, "\(resumed)")
        let idle = try await devices.run("campaigns", "resume", "ed-1")
        #expect(idle.output == "campaign ed-1 of demo was not paused\n", "\(idle)")

        let cancelled = try await devices.document("campaigns", "cancel", "ed-1", "--no-wait")
        #expect(cancelled["changed"] as? Bool == true, "\(cancelled)")
        #expect(try devices.redis.run("HEXISTS", "{pushfarm:demo}:cancels", "ed-1").integer == 1)
        let last = try await devices.run("campaigns", "list")
        #expect(last.output.contains("cancelling"), "\(last)")
    }

    @Test func `a draft is cancelled at once, and does not start again`() async throws {
        let (devices, file) = (try Self.devices(), try Definition(Self.edition))
        _ = try await devices.document("campaigns", "create", file.path, "--app", "demo")
        let dry = try await devices.run("campaigns", "cancel", "ed-1", "--dry-run")
        #expect(dry.output == "campaign ed-1 of demo would be cancelled\n", "\(dry)")
        let cancelled = try await devices.run("campaigns", "cancel", "ed-1")
        #expect(cancelled.output == "campaign ed-1 of demo is cancelled\n", "\(cancelled)")
        let start = try await devices.run("campaigns", "start", "ed-1")
        #expect(start.status == 1 && start.error.contains("is cancelled"), "\(start)")
        let unknown = try await devices.run("campaigns", "show", "ed-2")
        #expect(unknown.status == 1 && unknown.error.contains("there is no campaign ed-2"), "\(unknown)")
    }

    @Test func `resume begins the stage for which a zone waits`() async throws {
        let (devices, file) = (try Self.devices(), try Definition(Self.edition))
        _ = try await devices.document("campaigns", "create", file.path, "--app", "demo", "--start")
        let progress = """
            {"groups":[{"zone":"Asia/Tokyo","gated_since":5,"round":1,"rounds":1,"stage":0,"counted":9,"handled":3,
            "began":1,"planned_end":2,"needed":0,"sweeps":0,"cursor":[0,0,0,0]}]}
            """
        try devices.redis.run(
            "HSET", "{pushfarm:demo}:campaign:ed-1", "state", "running", "progress", progress, "audience:1",
            "9",
            "accepted:1", "3")
        let shown = try await devices.run("campaigns", "show", "ed-1")
        #expect(
            shown.output.contains("waits after stage 1") && shown.output.contains("Asia/Tokyo"), "\(shown)")
        #expect(shown.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(shown)")
        let document = try await devices.document("campaigns", "show", "ed-1")
        #expect(document["waits_for_resume"] as? Bool == true, "\(document)")
        #expect(document["audience"] as? Int == 9 && document["accepted"] as? Int == 3, "\(document)")
        let dry = try await devices.run("campaigns", "resume", "ed-1", "--dry-run")
        #expect(dry.output == "would change: campaign ed-1 of demo begins stage 2\n", "\(dry)")
        let resumed = try await devices.document("campaigns", "resume", "ed-1")
        #expect(resumed["stage"] as? Int == 2 && resumed["changed"] as? Bool == true, "\(resumed)")
        #expect(try devices.redis.run("HGET", "{pushfarm:demo}:campaign:ed-1", "released").text == "1")
    }

    @Test func `rate sets and removes the highest rate`() async throws {
        let (devices, file) = (try Self.devices(), try Definition(Self.edition))
        _ = try await devices.document("campaigns", "create", file.path, "--app", "demo")
        let dry = try await devices.run("campaigns", "rate", "ed-1", "6000/m", "--dry-run")
        #expect(dry.output == "campaign ed-1 of demo: would get the rate 100/s\n", "\(dry)")
        let set = try await devices.document("campaigns", "rate", "ed-1", "6000/m")
        #expect(set["rate"] as? Double == 100 && set["changed"] as? Bool == true, "\(set)")
        let shown = try await devices.document("campaigns", "show", "ed-1")
        #expect(shown["rate"] as? Double == 100, "\(shown)")
        let back = try await devices.document("campaigns", "rate", "ed-1", "default")
        #expect(back["rate"] is NSNull && back["changed"] as? Bool == true, "\(back)")
        for wrong in ["0/s", "5", "5/d", "-5/s", "1e99/s"] {
            let found = try await devices.run("campaigns", "rate", "ed-1", wrong)
            #expect(found.status == 2, "\(found)")
        }
    }
}
