import EventLoop
import Simulator
import Testing

@Suite struct ControlTests {
    @Test func `counters count requests and responses, and a command resets them`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            _ = try await client.push()
            _ = try await client.push(token: "xx")
            let counters = try await test.control("counters")
            #expect(counters["requests"] as? Int == 3)
            #expect(counters["accepted"] as? Int == 2)
            #expect(counters["by_status"] as? [String: Int] == ["200": 2, "400": 1])
            #expect(counters["by_reason"] as? [String: Int] == ["BadDeviceToken": 1])
            #expect(counters["connections"] as? Int == 1)
            #expect(counters["open_connections"] as? Int == 1)
            #expect(counters["tokens_verified"] as? Int == 1)
            #expect(counters["distinct_tokens"] as? Int == 1)
            #expect(counters["repeated_ids"] as? Int == 1)
            _ = try await test.control("counters reset")
            #expect(try await test.control("counters")["requests"] as? Int == 0)
        }
    }

    @Test(
        arguments: [
            "", "nonsense", "latency", "latency fast", "latency 50ms-20ms", "latency p50=9ms p99=1ms",
            "refuse 2",
            "refuse x%", "refuse 5% 6%", "goaway 0", "goaway", "cut -1", "answer 999 10s", "answer 418 10s",
            "answer 503 ten", "answer 503 retry-after=x", "token zz bad", "token aa nonsense", "streams -1",
            "answer 503 reason=a\"b",
        ])
    func `an invalid command gets an error and changes nothing`(command: String) async throws {
        try await TestGateway.run { test in
            let reply = try await test.control(command)
            #expect(reply["ok"] as? Bool == false)
            #expect((reply["error"] as? String)?.isEmpty == false)
            #expect(test.gateway.faults == Faults())
        }
    }

    @Test func `calm ends all faults, and stop calls the stop handler`() async throws {
        try await TestGateway.run { test in
            for command in ["latency 1s", "refuse 5%", "goaway 7 announced", "silence 0.5", "close-new on"] {
                #expect(try await test.control(command)["ok"] as? Bool == true)
            }
            #expect(test.gateway.faults != Faults())
            let faults = try await test.control("faults")
            #expect(
                Set(faults.keys) == ["ok", "latency", "refuse", "goaway", "silence", "close_new"])
            _ = try await test.control("calm")
            #expect(try await test.control("faults").keys.sorted() == ["ok"])
            #expect(test.gateway.faults == Faults())
            var isStopped = false
            test.gateway.onStop = { isStopped = true }
            _ = try await test.control("stop")
            #expect(isStopped)
            #expect((try await test.control("help")["help"] as? String)?.contains("goaway N") == true)
        }
    }
}
