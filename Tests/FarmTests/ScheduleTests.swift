import FarmHarness
import Foundation
import Testing

extension PatientFarms {
    /// Jobs for later, and jobs that come too late.
    struct ScheduleTests {
        @Test func `deliver_at is waited for`() async throws {
            let farm = try await Farm()
            let (soon, far) = (Tokens.make(50), Tokens.make(20, seed: 2))
            let time = Int(Date().timeIntervalSince1970) + 3
            try farm.push([
                Job(id: "far", tokens: far, fields: #""deliver_at":\#(time + 3600)"#),
                Job(id: "soon", tokens: soon, fields: #""deliver_at":\#(time)"#),
            ])
            #expect(try await farm.finished("soon").delivered == 50)
            let waiting = try #require(try await farm.account("far"))
            #expect(waiting.waiting == 20 && waiting.addsUp)
            let app = try #require(try await farm.status().apps.first)
            #expect(app.delayed > 0 && app.ready == 0)
            let lines = try farm.gateway.ledger().lines
            #expect(lines.compactMap(\.token).sorted() == soon.sorted())
            #expect(lines.allSatisfy { $0.time >= Int64(time) * 1000 })
        }

        @Test func `what is too late is expired, and not sent`() async throws {
            let farm = try await Farm()
            let now = Int(Date().timeIntervalSince1970)
            let tokens = Tokens.make(20)
            try farm.push([
                Job(
                    id: "old", tokens: tokens, fields: #""deliver_at":\#(now + 10),"expires_at":\#(now + 11)"#
                )
            ])
            _ = try await farm.event("job.accepted")
            // The deadline passes while nobody delivers.
            farm.coordinator.signal(SIGTERM)
            #expect(try await farm.coordinator.wait() == .exited(0))
            try await eventually("the deadline has passed") {
                Date().timeIntervalSince1970 > Double(now + 11)
            }
            try farm.restartCoordinator()
            let account = try await farm.finished("old")
            #expect(account.expired == 20 && account.delivered == 0 && account.failed == 0)
            #expect(try farm.gateway.ledger().lines.isEmpty)
            #expect(try farm.events("push.expired").compactMap { $0["token"] }.sorted() == tokens.sorted())
        }

        @Test func `a push in trouble expires at its deadline, with the cause`() async throws {
            let farm = try await Farm(Farm.Options(faults: ["answer 500"]))
            try farm.push([Job(id: "ttl", tokens: Tokens.make(1), fields: #""ttl":3"#)])
            let account = try await farm.finished("ttl")
            #expect(account.expired == 1)
            #expect(try farm.events("push.expired").first?["cause"] == "InternalServerError")
        }
    }
}
