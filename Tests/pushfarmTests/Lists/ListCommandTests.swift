import Campaigns
import FarmHarness
import Foundation
import Testing

/// The commands of `pushfarm lists`, on a private Redis.
@Suite(.timeLimit(.minutes(5))) struct ListCommandTests {
    private let folder: TestFolder
    private let redis: StoredDevices

    init() throws {
        folder = try TestFolder()
        redis = try StoredDevices([])
    }

    private static func token(_ number: Int) -> String {
        String(repeating: "a", count: 16 - String(number).count) + String(number)
    }

    /// The list with this name; nil if there is none.
    private func stored(_ name: String) throws -> UploadedList? {
        try redis.redis.run("HGET", "{pushfarm:demo}:lists", name).bytes.flatMap {
            UploadedList(name: name, json: $0)
        }
    }

    private func pages() throws -> [String] {
        try redis.redis.run("KEYS", "{pushfarm:demo}:list:*").array?.compactMap(\.text).sorted() ?? []
    }

    /// The rows of a group, as JSON.
    private func rows(_ list: UploadedList, group: Int) throws -> [String] {
        try (0..<list.groups[group].pages).flatMap { page in
            let key = "{pushfarm:demo}:list:\(list.version):\(group):\(page)"
            return ListPage(bytes: try redis.redis.run("GET", key).bytes ?? []).rows.map { row in
                String(decoding: row?.push ?? [], as: UTF8.self)
            }
        }
    }

    @Test func `a CSV file becomes pages by time zone, and bad rows go to a file`() async throws {
        var text = "apns;lang;tz;first name\n"
        for number in 0..<700 {
            text += "\(Self.token(number));de;\(["Asia/Tokyo", ""][number % 2]);\"A;\(number)\"\n"
        }
        text += "\(Self.token(3));;;again\nxyz;;;\n\(Self.token(900));;Mars Base;\n"
        let path = try folder.write(text, to: "r.csv")
        let columns = ["--token-column", "apns", "--zone-column", "tz"]
        let upload = ["lists", "upload", path, "--name", "readers", "--app", "demo"] + columns
        let dry = try await redis.run(upload + ["--dry-run"])
        #expect(dry.status == 1 && dry.output.contains("would have 700 rows in 1 time zone"), "\(dry)")
        #expect(try stored("readers") == nil && pages().isEmpty)

        let result = try await redis.run(upload)
        #expect(
            result.status == 1
                && result.output
                    == "demo: list readers has 700 rows in 1 time zone, 1 duplicate left out, 2 rows refused (see \(path).refused)\n",
            "\(result)")
        let refused = try String(contentsOfFile: path + ".refused", encoding: .utf8)
        #expect(refused.hasPrefix("apns;lang;tz;first name\n# line 703, apns: "))
        #expect(refused.contains("# line 704, tz: there is no time zone \"Mars Base\""))

        let list = try #require(try stored("readers"))
        #expect(list.state == .ready && list.duplicates == 1 && list.refused == 2)
        #expect(list.groups == [.init(zone: "Asia/Tokyo", rows: 350), .init(zone: nil, rows: 350)])
        #expect(list.columns == [.init(name: "first name", rows: 700, longest: 5)])
        for group in 0...1 {
            #expect(
                try rows(list, group: group)
                    == (0..<350).map {
                        let number = $0 * 2 + group
                        return
                            #"{"token":"\#(Self.token(number))","values":{"first name":"A;\#(number)"}}"#
                    })
        }
        #expect(try pages().count == 4)
        for page in try pages() {
            #expect(try redis.redis.run("TTL", page).integer ?? 0 > UploadedList.uploadSeconds)
        }

        let again = try await redis.run(upload)
        #expect(again.status == 1 && again.error.contains("already has a list readers"), "\(again)")
        let table = try await redis.run("lists", "list", "--app", "demo")
        #expect(table.output.contains("readers") && table.output.contains("ready"), "\(table)")
        let shown = try await redis.document("lists", "show", "readers", "--app", "demo")
        #expect((shown["zones"] as? [String: Int]) == ["Asia/Tokyo": 350], "\(shown)")
        #expect(shown["without_zone"] as? Int == 350 && shown["rows"] as? Int == 700)
        let unknown = try await redis.run("lists", "show", "reader", "--app", "demo")
        #expect(unknown.status == 2 && unknown.error.contains("did you mean \"readers\"?"), "\(unknown)")
        let removed = try await redis.run("lists", "remove", "readers", "--app", "demo")
        #expect(removed.status == 0, "\(removed)")
        #expect(try stored("readers") == nil && pages().isEmpty)
    }

    @Test func `rows of NDJSON come from standard input formats, too`() async throws {
        let path = try folder.write(
            """
            {"token":"\(Self.token(1))","n":1,"values":{"ok":true},"lang":"de"}
            {"token":"\(Self.token(2))","n":[]}
            """, to: "r.ndjson")
        let result = try await redis.run("lists", "upload", path, "--name", "x", "--app", "demo", "--json")
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any], "\(result)")
        #expect(document["rows"] as? Int == 1 && document["refused"] as? Int == 1)
        #expect(document["refused_file"] as? String == path + ".refused")
        let list = try #require(try stored("x"))
        #expect(
            try rows(list, group: 0)
                == [#"{"token":"\#(Self.token(1))","values":{"n":1,"ok":true}}"#])
    }

    @Test func `an upload that was killed cannot be used, and is replaced by the next upload`() async throws {
        let old = UploadedList(
            name: "x", version: "old", state: .uploading, by: "ada", at: 1,
            expiresAt: Int64(Date().timeIntervalSince1970 + 3_600) * 1_000)
        try redis.redis.run(
            "HSET", "{pushfarm:demo}:lists", "x", String(decoding: old.json, as: UTF8.self))
        for page in 0..<130 { try redis.redis.run("SET", "{pushfarm:demo}:list:old:700:\(page)", "x") }
        let table = try await redis.run("lists", "list", "--app", "demo")
        #expect(table.output.contains("uploading"), "\(table)")
        let path = try folder.write("token\n\(Self.token(1))\n", to: "r.csv")
        let result = try await redis.run("lists", "upload", path, "--name", "x", "--app", "demo")
        #expect(result.status == 0, "\(result)")
        #expect(!FileManager.default.fileExists(atPath: path + ".refused"))
        let list = try #require(try stored("x"))
        #expect(list.state == .ready && list.version != "old")
        #expect(try pages() == ["{pushfarm:demo}:list:\(list.version):0:0"])
    }

    @Test func `an upload that was killed continues with the pages of the same file`() async throws {
        let rows = (0..<700).map { "\(Self.token($0)),\(["Asia/Tokyo", ""][$0 % 2])\n" }.joined()
        let path = try folder.write("token,zone\n" + rows, to: "r.csv")
        let upload = ["lists", "upload", path, "--name", "x", "--app", "demo"]
        #expect(try await redis.run(upload).status == 0)
        var list = try #require(try stored("x"))
        let page = { (number: Int) in "{pushfarm:demo}:list:\(list.version):1:\(number)" }
        let second = try redis.redis.run("GET", page(1)).bytes ?? []
        // The state after a kill: the last page is not written. A mark in a page shows that the page is not written again.
        list.state = .uploading
        func interrupt() throws {
            try redis.redis.run(
                "HSET", "{pushfarm:demo}:lists", "x", String(decoding: list.json, as: UTF8.self))
            try redis.redis.run("DEL", page(1))
        }
        try interrupt()
        try redis.redis.run("SETRANGE", page(0), "20", "mark")
        let result = try await redis.run(upload)
        #expect(result.status == 0 && result.output.contains("has 700 rows"), "\(result)")
        let continued = try #require(try stored("x"))
        #expect(continued.version == list.version && continued.state == .ready)
        #expect(try redis.redis.run("GET", page(1)).bytes == second)
        #expect(try redis.redis.run("GETRANGE", page(0), "20", "23").text == "mark")
        #expect(try redis.redis.run("TTL", page(0)).integer ?? 0 > UploadedList.uploadSeconds)

        try interrupt()
        try redis.redis.run(
            "HSET", "{pushfarm:demo}:lists", "x",
            #"{"version":"\#(list.version)","state":"uploading","expires_at":4000000000000}"#)
        let other = try await redis.run(upload)
        let replaced = try #require(try stored("x"))
        #expect(other.status == 0 && replaced.version != list.version, "another file: \(other)")
    }

    @Test func `a file that cannot be a list uploads nothing`() async throws {
        let bad: [(text: String, file: String, more: [String], status: Int32, error: String)] = [
            ("tokn\nx\n", "a.csv", [], 2, "there is no column \"token\"; did you mean \"tokn\"?"),
            (
                "token,z\nx,y\n", "b.csv", ["--zone-column", "zone"], 2, "there is no column \"zone\""
            ),
            ("token\nxyz\n", "c.csv", [], 1, "the file has no valid row: nothing is uploaded"),
            ("", "d.ndjson", [], 1, "the file has no valid row: nothing is uploaded"),
            ("{}", "e.txt", [], 2, "give --format csv or --format ndjson"),
            ("{}", "f.json", ["--zone-column", "token"], 2, "Two options name the same column."),
        ]
        for (text, file, more, status, error) in bad {
            let path = try folder.write(text, to: file)
            let result = try await redis.run(
                ["lists", "upload", path, "--name", "x", "--app", "demo"] + more)
            #expect(result.status == status && result.error.contains(error), "\(file): \(result)")
        }
        #expect(try stored("x") == nil && pages().isEmpty)
    }

    // MARK: Campaigns with a file

    private static let issue =
        #"{"id": "issue", "list": "readers", "payload": {"aps": {"alert": "Hi {{name|you}}"}}}"#

    /// The state of a campaign; nil if there is none.
    private func state(of campaign: String) throws -> String? {
        try redis.redis.run("HGET", "{pushfarm:demo}:campaign:\(campaign)", "state").text
    }

    @Test func `a campaign is created with the list of a file, and a repeated command uploads no list`()
        async throws
    {
        let definition = try folder.write(Self.issue, to: "issue.json")
        let path = try folder.write(
            "token,name\n\(Self.token(1)),Ada\n\(Self.token(2)),\n", to: "r.csv")
        let create = ["campaigns", "create", definition, "--tokens-file", path, "--app", "demo", "--start"]
        let dry = try await redis.run(create + ["--dry-run"])
        #expect(
            dry.status == 0
                && dry.output
                    == "demo: list readers would have 2 rows in 0 time zones\ndemo: campaign issue would be started\n",
            "\(dry)")
        #expect(try stored("readers") == nil && pages().isEmpty && state(of: "issue") == nil)

        // A command that was killed after the upload has left the list.
        let upload = try await redis.run("lists", "upload", path, "--name", "readers", "--app", "demo")
        #expect(upload.status == 0, "\(upload)")
        let list = try #require(try stored("readers"))
        let result = try await redis.run(create)
        #expect(
            result.status == 0
                && result.output
                    == "demo: list readers has 2 rows in 0 time zones\ndemo: campaign issue started\n",
            "\(result)")
        #expect(try stored("readers") == list && state(of: "issue") == "scheduled")

        // Another file, or other columns of the same file, are not the same list.
        let other = try folder.write(
            Self.issue.replacingOccurrences(of: "\"issue\"", with: "\"other\""), to: "o.json")
        try await Self.expectKnown(
            redis.run(
                "campaigns", "create", other, "--tokens-file", path, "--lang-column", "name", "--app", "demo")
        )
        _ = try folder.write("token\n\(Self.token(3))\n", to: "r.csv")
        try await Self.expectKnown(
            redis.run("campaigns", "create", other, "--tokens-file", path, "--app", "demo"))
        #expect(try stored("readers") == list && state(of: "other") == nil)
    }

    private static func expectKnown(_ result: ProgramRun.Result) {
        #expect(
            result.status == 1 && result.error.contains("demo already has a list readers with 2 rows"),
            "\(result)")
    }

    @Test func `a campaign whose list has refused rows stays a draft`() async throws {
        let definition = try folder.write(Self.issue, to: "issue.json")
        let path = try folder.write("token\n\(Self.token(1))\nxyz\n", to: "r.csv")
        let result = try await redis.run(
            "campaigns", "create", definition, "--tokens-file", path, "--app", "demo", "--start")
        #expect(
            result.status == 1
                && result.output
                    == "demo: list readers has 1 row in 0 time zones, 1 row refused (see \(path).refused)\ndemo: campaign issue created, and not started because rows were refused\n",
            "\(result)")
        #expect(try stored("readers")?.rows == 1 && state(of: "issue") == "draft")
        let refused = try String(contentsOfFile: path + ".refused", encoding: .utf8)
        #expect(refused.hasPrefix("token\n# line 3, token: "), "\(refused)")
    }

    @Test func `a file of tokens needs a definition that names its list`() async throws {
        let definition = try folder.write(
            #"{"id": "x", "segment": "all", "payload": {"aps": {}}}"#, to: "x.json")
        let path = try folder.write("token\n\(Self.token(1))\n", to: "r.csv")
        let segment = try await redis.run(
            "campaigns", "create", definition, "--tokens-file", path, "--app", "demo")
        #expect(
            segment.status == 2 && segment.error.contains("needs a definition with \"list\""), "\(segment)")
        let alone = try await redis.run("campaigns", "create", definition, "--zone-column", "tz")
        #expect(alone.status == 2 && alone.error.contains("need --tokens-file"), "\(alone)")
        let none = try await redis.run("campaigns", "create", definition, "--tokens-file", path + "x")
        #expect(none.status == 2 && none.output.isEmpty, "\(none)")
        #expect(try pages().isEmpty && state(of: "x") == nil)
    }
}
