import EventLoop
import FarmHarness

/// Scenarios with a gateway that is slow, disappears or refuses.
extension Scenario {
    static let gatewayTrouble: [Scenario] = [
        Scenario(
            16, "slow gateway",
            .with {
                // The timeout is a multiple of the latency, so that a stall of the test machine does not exceed
                // the timeout.
                $0.appLines = ["request_timeout: 8"]
                $0.connections = 4
            }
        ) { stage in
            stage.startFlow(sizes: 10...60)
            try stage.gateway.control("latency 2s")
            try await stage.pause(.seconds(4))
            if try stage.gateway.counter("abandoned_streams") > 0 { stage.complain("abandoned streams") }
            // The gateway is slower than the farm's timeout. The outcome of accepted pushes without a timely response is unknown.
            try await stage.fault("silence") {
                try stage.gateway.control("latency 20ms")
                try stage.gateway.control("silence 2% processed")
                try await stage.pause(stage.scale.span)
                try stage.gateway.control("silence off")
            }
            await stage.stopFlow()
            try stage.expectLostResponses()
        },
        Scenario(17, "connections are reset") { stage in
            stage.startFlow()
            try await stage.fault("cut every 200 requests") {
                try stage.gateway.control("cut 200")
                try await stage.pause(stage.scale.span)
                try stage.gateway.control("cut off")
            }
            stage.expectation.doubles = try stage.gateway.counter("cuts") * 100
            stage.expectation.keepsOrder = false
        },
        Scenario(
            18, "GOAWAY storm, refused streams, changing limits", .with { $0.connections = 4 }
        ) { stage in
            stage.startFlow()
            stage.expectation.keepsOrder = false
            // If a stream exceeds the new limit, the gateway may refuse the stream before the request is complete. Then the
            // stream is not in the gateway's ledger.
            stage.expectation.streamsAreWhole = false
            try await stage.fault("goaway") {
                try stage.gateway.control("goaway 50")
                try await stage.pause(stage.scale.span / 3)
                try stage.gateway.control("goaway 50 announced")
                try await stage.pause(stage.scale.span / 3)
                try stage.gateway.control("goaway off")
                try stage.gateway.control("refuse 10%")
                for streams in [1000, 1, 100] {
                    try stage.gateway.control("streams \(streams)")
                    try await stage.pause(stage.scale.span / 9)
                }
                try stage.gateway.control("refuse off")
            }
            if try stage.gateway.counter("goaways") < 5 { stage.complain("too few GOAWAY frames") }
        },
        Scenario(19, "503, 429, refused credentials") { stage in
            stage.startFlow()
            stage.expectation.recovery = 60_000
            try await stage.fault("503") {
                try stage.gateway.control("answer 503")
                try await stage.pause(stage.scale.span / 2)
                try stage.gateway.control("answer off")
            }
            try await stage.fault("429") {
                try stage.gateway.control("answer 429 share=5% retry-after=1")
                try await stage.pause(.seconds(1))
                try stage.gateway.control("answer off")
            }
            // The farm pauses the app after refused credentials until an operator resumes the app.
            try await stage.fault("refused credentials") {
                try stage.gateway.control("answer 403 reason=Forbidden")
                try await eventually("the app is paused") {
                    try stage.runInRedis("HGET", "{pushfarm:demo}:admission", "paused").text != nil
                }
                try stage.gateway.control("answer off")
                try await stage.run("resume", "demo")
            }
            if try stage.runInRedis("HGET", "{pushfarm:demo}:admission", "paused").text != nil {
                stage.complain("the app was not resumed")
            }
        },
    ]
}

extension Stage {
    /// Expects duplicates of pushes that the gateway accepted without a response. The farm may send each of these
    /// pushes again.
    func expectLostResponses() throws {
        expectation.doubles += try gateway.counter("silent_streams")
        expectation.keepsOrder = false
    }
}
