import FarmHarness
import Foundation
import Testing

extension PatientFarms {
    /// Jobs for later, and jobs that come too late.
    struct ScheduleTests {
        @Test func `deliver_at is waited for`() async throws {
            let farm = try await Farm()
            let tokens = Tokens.make(50)
            let time = Int(Date().timeIntervalSince1970) + 6
            try farm.push([Job(id: "later", tokens: tokens, fields: #""deliver_at":\#(time)"#)])
            _ = try await farm.event("job.accepted")
            let waiting = try #require(try await farm.account("later"))
            #expect(waiting.waiting == 50 && waiting.addsUp)
            let app = try #require(try await farm.status().apps.first)
            #expect(app.delayed > 0 && app.ready == 0)
            #expect(try farm.gateway.ledger().lines.isEmpty)
            #expect(try await farm.finished("later").delivered == 50)
            let lines = try farm.gateway.ledger().lines
            #expect(lines.count == 50)
            #expect(lines.allSatisfy { $0.time >= Int64(time) * 1000 })
        }

        @Test func `what is too late is expired, and not sent`() async throws {
            let farm = try await Farm()
            let now = Int(Date().timeIntervalSince1970)
            let tokens = Tokens.make(20)
            try farm.push([
                Job(id: "old", tokens: tokens, fields: #""deliver_at":\#(now + 6),"expires_at":\#(now + 7)"#)
            ])
            _ = try await farm.event("job.accepted")
            // The deadline passes while nobody delivers.
            farm.coordinator.signal(SIGTERM)
            #expect(try await farm.coordinator.wait() == .exited(0))
            try await eventually("the deadline has passed") { Date().timeIntervalSince1970 > Double(now + 7) }
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
