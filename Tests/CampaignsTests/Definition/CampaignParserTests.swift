import Campaigns
import PushModel
import Scheduling
import Segments
import Testing

struct CampaignParserTests {
    /// A definition with the required fields and others.
    private static func text(_ fields: String) -> String {
        "{\"segment\":\"sport\",\"payload\":{\"aps\":{}}\(fields.isEmpty ? "" : ",")\(fields)}"
    }

    @Test func `the least campaign sends at once, as fast as the app may`() throws {
        let least = try campaign(Self.text(""))
        #expect(least.audience == .saved("sport"))
        #expect(least.schedule.start == .now)
        #expect(least.schedule.spread == .rate(CampaignSchedule.greatestRate))
        #expect(least.schedule.cohorts == 1)
        #expect(least.defaultZone == "UTC")
        #expect(least.id == nil)
        #expect(least.salt(id: "c-1") == "c-1")
    }

    @Test func `reads all fields that are supported`() throws {
        let full = try campaign(
            """
            {"id":"ed-1","segment":"tag:abo & !tag:muted","translations":{"de":{"aps":{}},"default":{"aps":{}}},
             "push_type":"background","priority":5,"topic":"com.example.app","collapse_id":"ed","lane":"bulk",
             "receipts":"all","delivery":"at_least_once","max_attempts":3,"ttl":"1h",
             "start_at":"2026-11-24","window":{"from":"03:00","to":"06:00","zone":"device"},"zone":"Europe/Berlin",
             "spread":"20m","avoid":[0,30],"cohorts":8,"series":"morning",
             "stages":["1 %",{"share":"10%","wait":"30m"},{"share":"50 %","wait":"resume"},"100 %"],
             "repeat":{"every":"25m","until":"done","max":4},"fallback":{"payload":{"aps":{"mutable-content":1}}}}
            """)
        #expect(full.id == "ed-1")
        #expect(full.audience == .expression(try SegmentExpression(parsing: "tag:abo & !tag:muted")))
        #expect(full.content.message.field == .translations)
        #expect(full.content.options.map(\.field) == CampaignField.ofJob.filter { $0 != .expiresAt })
        #expect(full.content.fallback != nil)
        #expect(full.schedule.start == .on(CivilDate(year: 2026, month: 11, day: 24)!))
        #expect(full.schedule.window?.description == "03:00–06:00")
        #expect(full.schedule.spread == .over(milliseconds: 1_200_000))
        #expect(full.schedule.cohorts == 8)
        #expect(full.schedule.repetition == .init(every: 1_500_000, max: 4))
        #expect(
            full.schedule.stages == [
                .init(share: 0.01, gate: .resume), .init(share: 0.1, gate: .wait(milliseconds: 1_800_000)),
                .init(share: 0.5, gate: .resume), .init(share: 1, gate: .resume),
            ])
        #expect(full.defaultZone == "Europe/Berlin")
        #expect(full.salt(id: "ed-1") == "morning")
    }

    @Test(arguments: [
        (
            "\"start_at\":\"2026-11-24T05:00:00+01:00\"",
            CampaignSchedule.Start.at(utc("2026-11-24T04:00:00Z"))
        ),
        ("\"start_at\":1795502400", .at(UTCTime(seconds: 1_795_502_400))),
        ("\"start_at\":\"2026-02-28\"", .on(CivilDate(year: 2026, month: 2, day: 28)!)),
    ]) func `a start is a time, Unix seconds or a date`(field: String, start: CampaignSchedule.Start) throws {
        #expect(try campaign(Self.text(field)).schedule.start == start)
    }

    @Test func `a window or a repetition spreads pushes evenly`() throws {
        #expect(
            try campaign(Self.text("\"window\":{\"from\":\"05:00\",\"to\":\"07:00\"}")).schedule.spread
                == .evenly)
        #expect(try campaign(Self.text("\"repeat\":{\"every\":\"25m\"}")).schedule.spread == .evenly)
    }

    static let faults: [(text: String, field: String, at: String, reason: String)] = [
        ("", "campaign", "", "not valid JSON"),
        ("[1]", "campaign", "[1]", "must be a JSON object"),
        ("{\"segment\":\"a\",\"payload\":{}} 1", "campaign", "1", "something follows"),
        (
            "{\"payload\":{}}", "segment", "{\"pay",
            "\"segment\" is missing; a campaign needs \"segment\" or \"list\""
        ),
        ("{\"segment\":\"a\"}", "payload", "{\"seg", "\"payload\" is missing"),
        ("{\"segment\":\"tag:\",\"payload\":{}}", "segment", "\"tag:\"", "expected a value"),
        ("{\"segment\":7,\"payload\":{}}", "segment", "7", "must be the name of a saved segment"),
        ("{\"segment\":\"a\",\"list\":\"b\",\"payload\":{}}", "list", "\"b\"", "exclude each other"),
        ("{\"segment\":\"a\",\"payload\":[]}", "payload", "[]", "must be a JSON object; this is an array"),
        (
            "{\"segment\":\"a\",\"payload\":{},\"translations\":{}}", "translations", "{}}",
            "exclude each other"
        ),
        (
            "{\"segment\":\"a\",\"segment\":\"b\",\"payload\":{}}", "segment", "\"segment\":\"b",
            "is given twice"
        ),
        (text("\"cohort\":8"), "cohort", "\"cohort\"", "did you mean \"cohorts\"?"),
        (text("\"cohorts\":65"), "cohorts", "65", "whole number from 1 to 64"),
        (text("\"cohorts\":1.5"), "cohorts", "1.5", "whole number from 1 to 64"),
        (text("\"cohorts\":99999999999999999999"), "cohorts", "9999", "whole number"),
        (text("\"window\":{\"from\":\"5:00\",\"to\":\"07:00\"}"), "window.from", "\"5:00\"", "a time of day"),
        (text("\"window\":{\"from\":\"05:00\"}"), "window.to", "{\"from", "is missing"),
        (
            text("\"window\":{\"from\":\"05:00\",\"to\":\"05:00\"}"), "window", "{\"from",
            "it contains no time"
        ),
        (
            text("\"window\":{\"from\":\"05:00\",\"to\":\"06:00\",\"tz\":\"UTC\"}"), "window.tz", "\"tz\"",
            "there is no field"
        ),
        (
            text("\"window\":{\"from\":\"05:00\",\"to\":\"06:00\",\"zone\":\"Mars/X\"}"), "window.zone",
            "\"Mars/X\"",
            "there is no time zone \"Mars/X\""
        ),
        (text("\"zone\":\"device\""), "zone", "\"device\"", "there is no time zone"),
        (text("\"spread\":\"evenly\""), "spread", "\"evenly\"", "without a window"),
        (text("\"spread\":\"5\""), "spread", "\"5\"", "5 needs a unit"),
        (text("\"spread\":\"500ms\""), "spread", "\"500ms\"", "from 1 second to 31 days"),
        (text("\"rate\":5,\"spread\":\"5m\""), "rate", "5,", "exclude each other"),
        (text("\"rate\":0"), "rate", "0", "above 0"),
        (text("\"rate\":1e400"), "rate", "1e400", "above 0"),
        (text("\"avoid\":[60]"), "avoid[0]", "60", "from 0 to 59"),
        (text("\"avoid\":5"), "avoid", "5", "must be an array"),
        (text("\"stages\":[]"), "stages", "[]", "is empty"),
        (text("\"stages\":[\"10 %\",\"5 %\",\"100 %\"]"), "stages", "[\"10", "each share must be larger"),
        (text("\"stages\":[\"10 %\"]"), "stages", "[\"10", "the last share must be 100 %"),
        (text("\"stages\":[\"1\",\"100 %\"]"), "stages[0]", "\"1\"", "must be a share"),
        (
            text("\"stages\":[{\"share\":\"1 %\",\"wait\":\"x\"},\"100 %\"]"), "stages[0].wait", "\"x\"",
            "\"resume\", or"
        ),
        (
            text("\"stages\":[{\"share\":\"100 %\",\"wait\":\"1m\"}]"), "stages[0].wait", "\"1m\"",
            "no stage follows"
        ),
        (text("\"repeat\":{\"max\":3}"), "repeat.every", "{\"max", "is missing"),
        (
            text("\"repeat\":{\"every\":\"25m\",\"until\":\"dawn\"}"), "repeat.until", "\"dawn\"",
            "must be \"done\""
        ),
        (text("\"repeat\":{\"every\":\"25m\",\"max\":25}"), "repeat.max", "25}", "from 1 to 24"),
        (text("\"repeat\":{\"every\":\"5m\"},\"spread\":\"6m\""), "spread", "\"6m\"", "longer than"),
        (text("\"fallback\":{\"payload\":{}}"), "fallback", "{\"payload\":{}}", "needs \"repeat\""),
        (text("\"repeat\":{\"every\":\"25m\"},\"fallback\":{}"), "fallback.payload", "{}", "is missing"),
        (text("\"start_at\":\"24.11.2026\""), "start_at", "\"24.", "must be a date"),
        (text("\"start_at\":\"2026-11-24T05:00\""), "start_at", "\"2026", "needs a time zone"),
        (text("\"ttl\":5,\"expires_at\":6"), "expires_at", "6", "exclude each other"),
        (text("\"id\":\"\""), "id", "\"\"", "1 to 64 characters"),
        (text("\"series\":\"a b\""), "series", "\"a b\"", "letters, digits"),
    ]

    @Test(arguments: faults.indices) func `refuses a fault with field, position and reason`(index: Int) throws
    {
        let fault = Self.faults[index]
        let error = #expect(throws: CampaignError.self) { try campaign(fault.text) }
        #expect(error?.field == fault.field)
        #expect(error?.reason.contains(fault.reason) == true, "\(error?.reason ?? "")")
        if let position = error?.position {
            let rest = String(decoding: Array(fault.text.utf8).dropFirst(position), as: UTF8.self)
            #expect(rest.hasPrefix(fault.at), "\(rest)")
        }
    }

    @Test func `an error has the id of the campaign`() {
        let error = #expect(throws: CampaignError.self) {
            try campaign(Self.text("\"cohorts\":0,\"id\":\"ed\""))
        }
        #expect(error?.id == "ed")
    }

    private static func merged(
        _ fields: String, payload: String = #"{"aps":{"content-available":1},"fetch":["a"]}"#
    )
        -> String
    {
        #"{"segment":"a","payload":\#(payload),"push_type":"background","merge":"editions"\#(fields)}"#
    }

    @Test func `reads the merge group of a campaign`() throws {
        let merge = try campaign(Self.merged(#","merge_priority":3"#)).merge
        #expect(merge?.name == "editions" && merge?.priority == 3)
        #expect(try campaign(Self.merged("")).merge?.priority == 0)
    }

    static let mergeFaults: [(text: String, field: String, reason: String)] = [
        (text("\"merge_priority\":3"), "merge_priority", "needs \"merge\""),
        (merged(#","merge_priority":1001"#), "merge_priority", "whole number from 0 to 1000"),
        (text("\"merge\":\"a b\""), "merge", "letters, digits"),
        (text("\"merge\":\"m\""), "merge", "\"merge\" needs \"push_type\": \"background\""),
        (
            text("\"merge\":\"m\",\"push_type\":\"alert\""), "push_type",
            "\"merge\" needs \"push_type\": \"background\""
        ),
        (merged(#","ttl":60"#), "ttl", "exclude each other"),
        (merged(#","topic":"com.example.x""#), "topic", "exclude each other"),
        (merged(#","caps":[{"pushes":1,"per":"day"}]"#), "caps", "exclude each other"),
        (merged("", payload: #"{"aps":{"content-available":1}}"#), "payload", "needs aps and fetch"),
        (
            merged("", payload: #"{"aps":{"content-available":1},"fetch":["{{id}}"]}"#), "payload",
            "no placeholders"
        ),
    ]

    @Test(arguments: mergeFaults.indices) func `refuses what cannot be merged`(index: Int) {
        let fault = Self.mergeFaults[index]
        let error = #expect(throws: CampaignError.self) { try campaign(fault.text) }
        #expect(error?.field == fault.field)
        #expect(error?.reason.contains(fault.reason) == true, "\(error?.reason ?? "")")
    }

    @Test func `reads variants, and sends their exploration as the first stage`() throws {
        let campaign = try campaign(
            """
            {"segment":"a","variants":[{"name":"a","payload":{}},{"name":"b","payload":{"x":1}}],
             "allocation":"softmax","temperature":0.2,"explore":{"share":"5 %","wait":"30m"},"holdout":"10 %"}
            """)
        let variants = try #require(campaign.variants)
        #expect(variants.names == ["a", "b"] && variants.holdout == 0.1)
        #expect(variants.policy.allocation == .softmax(temperature: 0.2))
        #expect(
            campaign.content.variants.map { String(decoding: campaign.definition[$0], as: UTF8.self) }
                == ["{}", "{\"x\":1}"])
        #expect(campaign.schedule.stages.map(\.share) == [0.05, 1])
        #expect(campaign.schedule.stages.first?.gate == .wait(milliseconds: 1_800_000))
        #expect(campaign.isExploring(round: 1, stage: 0) && !campaign.isExploring(round: 1, stage: 1))
        let known = campaign.withoutExploration()
        #expect(known.schedule.stages.isEmpty && !known.isExploring(round: 1, stage: 0))
    }

    @Test func `a run of a recurring campaign has its fields, and the series of its campaign`() throws {
        let text =
            "{\"id\":\"daily\",\"segment\":\"a\",\"cron\":\"30 5 * * *\",\"payload\":{\"x\": 1},\"rate\":5}"
        let daily = try campaign(text)
        let runs = try #require(try RecurringSchedule(daily, id: "daily", zones: TestZones.rules))
        let run = try campaign(String(decoding: runs.definition(ofRun: "daily.x"), as: UTF8.self))
        #expect(run.id == "daily.x" && run.series == "daily" && run.recurrence == nil)
        #expect(run.schedule == daily.schedule && run.audience == daily.audience)
        let inSeries = try campaign("{\"series\":\"s\"," + text.dropFirst())
        let other = try #require(try RecurringSchedule(inSeries, id: "daily", zones: TestZones.rules))
        #expect(try campaign(String(decoding: other.definition(ofRun: "r"), as: UTF8.self)).series == "s")
        let due = UTCTime(seconds: 1_795_671_000)
        #expect(runs.canStart(due: due, now: due.adding(milliseconds: 3_599_999)))
        #expect(!runs.canStart(due: due, now: due.adding(milliseconds: 3_600_000)))
        let next = runs.next(after: due)
        #expect(next.map { ($0.seconds - due.seconds) } == 86_400)
    }

    @Test(arguments: [
        ("\"segment\":\"a\"", "list", "\"segment\" and \"list\" exclude each other; give one of them"),
        (
            "\"category\":\"a\"", "category",
            "\"category\" needs \"segment\": a row of a list is no stored device"
        ),
        ("\"caps\":[]", "caps", "\"caps\" needs \"segment\": a row of a list is no stored device"),
        ("\"merge\":\"a\"", "merge", "\"merge\" needs \"segment\": rows of two lists cannot be known"),
        ("\"variants\":[]", "variants", "\"variants\" needs \"segment\": rows of a list have no ids"),
        ("\"repeat\":{\"every\":\"25m\",\"until\":\"done\"}", "repeat.until", "rows of a list have no ids"),
    ]) func `a campaign to a list has no field that needs ids of devices`(
        more: String, field: String, reason: String
    ) throws {
        #expect(try campaign("{\"list\":\"a\",\"payload\":{\"aps\":{}}}").audience == .list("a"))
        let error = #expect(throws: CampaignError.self) {
            try campaign("{\"list\":\"a\",\(more),\"payload\":{\"aps\":{}}}")
        }
        #expect(error?.field == field)
        #expect(error?.reason.hasPrefix(reason) == true, "\(error?.reason ?? "")")
    }

    /// Fields of a campaign with two variants that are wrong.
    static let wrongVariants: [(fields: String, field: String, reason: String)] = [
        ("\"explore\":{\"share\":\"100 %\",\"wait\":\"1m\"}", "explore.share", "below 100 %"),
        (
            "\"explore\":{\"share\":\"5 %\",\"wait\":\"1m\"},\"stages\":[\"100 %\"]", "explore",
            "exclude each other"
        ),
        ("\"holdout\":\"100 %\"", "holdout", "below 100 %"),
        ("\"epsilon\":0.1", "epsilon", "\"epsilon-greedy\""),
        ("\"allocation\":\"tompson\"", "allocation", "did you mean \"thompson\"?"),
        ("\"payload\":{}", "variants", "exclude each other"),
    ]

    @Test(arguments: wrongVariants.indices) func `refuses wrong fields beside variants`(index: Int) {
        let row = Self.wrongVariants[index]
        let error = #expect(throws: CampaignError.self) {
            try campaign(
                "{\"segment\":\"a\",\"variants\":[{\"name\":\"a\",\"payload\":{}},{\"name\":\"b\",\"payload\":{}}],\(row.fields)}"
            )
        }
        #expect(error?.field == row.field)
        #expect(error?.reason.contains(row.reason) == true, "\(error?.reason ?? "")")
    }

    @Test(arguments: [1, 15]) func `refuses too few and too many variants`(count: Int) {
        let variants = (0..<count).map { "{\"name\":\"v\($0)\",\"payload\":{}}" }.joined(separator: ",")
        let error = #expect(throws: CampaignError.self) {
            try campaign("{\"segment\":\"a\",\"variants\":[\(variants)]}")
        }
        #expect(error?.field == "variants")
    }

    /// Values that are wrong also in fields that are not supported yet.
    static let wrongValues: [(fields: String, field: String, reason: String)] = [
        ("\"caps\":[{\"pushes\":16,\"per\":\"day\"}]", "caps[0].pushes", "from 1 to 15"),
        ("\"caps\":[{\"pushes\":3,\"per\":\"days\"}]", "caps[0].per", "did you mean \"day\"?"),
        (
            "\"caps\":[{\"pushes\":3,\"per\":\"day\"},{\"pushes\":4,\"per\":\"day\"}]", "caps[1].per",
            "there is a cap already"
        ),
        ("\"quiet\":{\"from\":\"22:00\",\"to\":\"22:00\"}", "quiet", "no time would be left"),
        ("\"quiet\":{\"from\":\"00:00\",\"to\":\"24:00\"}", "quiet", "no time would be left"),
        ("\"cron\":\"61 * * * *\"", "cron", "minute \"61\""),
        ("\"merge_priority\":3", "merge_priority", "needs \"merge\""),
        ("\"stop_at\":\"200 %\"", "stop_at", "up to 100 %"),
        ("\"epsilon\":0.1", "epsilon", "needs \"variants\""),
        ("\"cron\":\"0 5 * * *\",\"start_at\":5", "cron", "exclude each other"),
        ("\"cron\":\"0 5 * * *\",\"id\":\"a b\"", "id", "at most 48 letters"),
    ]

    @Test(arguments: wrongValues.indices) func `checks the values of fields that are not supported yet`(
        index: Int
    ) {
        let row = Self.wrongValues[index]
        let error = #expect(throws: CampaignError.self) { try campaign(Self.text(row.fields)) }
        #expect(error?.field == row.field)
        #expect(error?.reason.contains(row.reason) == true, "\(error?.reason ?? "")")
    }
}

extension CampaignParserTests {
    @Test func `a zone that does not exist is refused with a similar name`() throws {
        let names = Array("Z Europe/Berlin 1 - CET\nL Etc/UTC UTC\n".utf8)
        let catalog = ZoneCatalog(folder: "/zones") { path in
            switch path {
            case "/zones/tzdata.zi": names
            case "/zones/UTC": TestZones.file("UTC")
            case "/zones/Europe/Berlin": TestZones.file("Europe/Berlin")
            default: nil
            }
        }
        let parser = CampaignParser(catalog)
        let text = "{\"segment\":\"a\",\"payload\":{},\"zone\":\"Europe/Belrin\"}"
        let error = #expect(throws: CampaignError.self) { try parser.parse(Array(text.utf8)) }
        #expect(error?.field == "zone")
        #expect(
            error?.reason.contains("there is no time zone \"Europe/Belrin\"") == true,
            "\(error?.reason ?? "")")
        let known = text.replacing("Belrin", with: "Berlin")
        #expect(try parser.parse(Array(known.utf8)).defaultZone == "Europe/Berlin")
    }
}
