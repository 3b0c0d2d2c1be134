import Testing

@testable import pushfarm

struct HostStatusTests {
    @Test func `reads and writes the text of a coordinator`() {
        let text = #"""
            {"host":"a","pid":7,"state":"running","capacity":4000,"auto":false,"since":1800000000000,"intake":{"pid":9,"state":"ready","rate":1200,"restarts":0,"rss":9000000,"jobs":44,"refused":1,"pushes":4000},"workers":[{"worker":"a-1","pid":8,"state":"ready","shards":32,"connections":1,"streams":12,"rate":5000,"slowed_to":400,"restarts":1,"rss":15000000,"delivered":10,"failed":2,"retried":3,"busy":71,"since":1800000000100}],"apps":[{"app":"demo","shards":32,"rate":5000,"errors":7,"connections":1,"streams":12,"slowed_to":400,"delivered":10,"failed":2,"retried":3,"p50":20,"p99":90,"wait":null}],"campaigns":[{"app":"demo","campaign":"ed-1","state":"running","late":true,"round":2,"rounds":4,"counted":4000,"handled":300,"total":4300,"remaining_ms":60000,"next":null}],"quarantined_shards":[{"app":"demo","shard":3,"milliseconds":900}],"problems":["credentials not followed: demo: x"]}
            """#
        let status = HostStatus(name: "a", json: Array(text.utf8), isAlive: true)
        #expect(status.json.description == text)
    }

    @Test(arguments: [
        ("quiet", 32, true), ("stopped", 32, true), ("stopped", 0, false), ("ready", 32, false),
    ])
    func `one that serves no shards is reported`(state: String, shards: Int, isReported: Bool) {
        let line = #"{"state":"running","workers":[{"worker":"1","state":"\#(state)","shards":\#(shards)}]}"#
        let places = HostStatus(name: "a", json: Array(line.utf8), isAlive: true).quietOwners
        #expect(
            places
                == (isReported
                    ? ["worker 1 of a is \(state): its shards are not served until it is restarted"] : []))
    }

    @Test(arguments: [(12, ["a is quiet: its shards are not served until pushfarm resume a"]), (0, [])])
    func `a quiet host is a problem while it keeps shards`(shards: Int, words: [String]) {
        let line = #"{"state":"quiet","apps":[{"app":"demo","shards":\#(shards)}]}"#
        let status = HostStatus(name: "a", json: Array(line.utf8), isAlive: true)
        #expect(status.quietOwners == words && status.servesNothing)
    }

    @Test func `a host that is gone has no ready process, rate or shards`() {
        let line = #"""
            {"state":"running","intake":{"pid":3,"state":"ready","rate":5},"workers":[{"worker":"1","pid":7,
            "state":"ready","shards":32,"rate":900,"streams":4,"delivered":70}],"apps":[{"app":"demo","shards":64,
            "rate":900,"delivered":70}]}
            """#
        let status = HostStatus(name: "a", json: Array(line.utf8), isAlive: false)
        let worker = status.workers[0]
        #expect(status.state == "gone" && status.intake?.state == "gone" && status.intake?.rate == 0)
        #expect(worker.state == "gone" && worker.pid == nil && worker.shards == 0)
        #expect(worker.rate == 0 && worker.streams == 0 && worker.delivered == 70)
        #expect(status.apps[0].rate == 0 && status.apps[0].shards == 0 && status.apps[0].delivered == 70)
    }

    @Test func `an entry without a process has no process id`() {
        let line =
            #"{"state":"running","intake":{"pid":0},"workers":[{"worker":"1","pid":0,"state":"stopped"}]}"#
        let status = HostStatus(name: "a", json: Array(line.utf8), isAlive: true)
        #expect(status.workers[0].pid == nil && status.intake?.pid == nil)
        let json = status.json.description
        #expect(json.contains(#""intake":{"pid":null,"#) && json.contains(#"{"worker":"1","pid":null,"#))
        #expect(Figures.pid(status.workers[0].pid) == "–" && Figures.pid(1_234_567) == "1234567")
    }

    @Test(arguments: [
        "", "{", "[]", "null", #"{"workers":[{"pid":"x"},{}]}"#, #"{"workers":[{"rate":1e99}]}"#,
        #"{"pid":-1e300,"intake":{"pid":1e30}}"#,
    ])
    func `unreadable text gives empty values and no error`(text: String) {
        let status = HostStatus(name: "a", json: Array(text.utf8), isAlive: false)
        #expect(status.host == "a")
        #expect(status.state == "gone")
    }
}
