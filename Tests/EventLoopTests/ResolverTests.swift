import EventLoop
import LoopTesting
import Testing
import Transport

@Suite(.timeLimit(.minutes(5))) struct ResolverTests {
    @Test(arguments: ["localhost", "127.0.0.1", "::1"]) func `resolves names of this machine`(name: String)
        async throws
    {
        let addresses = try await onLoop { try await Resolver.resolve(host: name, port: 443) }
        #expect(!addresses.isEmpty)
        #expect(addresses.allSatisfy { $0.port == 443 })
        #expect(addresses.allSatisfy { ["127.0.0.1:443", "[::1]:443"].contains($0.description) })
    }

    @Test(arguments: ["does-not-exist.invalid", "", String(repeating: "x", count: 300)])
    func `a name that cannot exist is a temporary error`(name: String) async throws {
        let outcome = try await onLoop {
            await Deadline.race(until: .now + .seconds(40)) { () async -> String in
                do throws(LoopError) {
                    return "found \(try await Resolver.resolve(host: name, port: 1))"
                } catch { return "refused" }
            }
        }
        #expect(outcome == "refused")
    }

    @Test func `a deadline ends the wait and later results are ignored`() async throws {
        try await onLoop { () async throws -> Void in
            let gate = Mailbox<Int>()
            let late = Mailbox<Int>()
            let value = await Deadline.race(until: .now) { () async -> Int? in
                let value = try? await gate.next()
                late.put(1)
                return value
            }
            #expect(value == nil)
            gate.put(7)
            _ = try await late.next()
        }
    }

    @Test func `a result before the deadline counts`() async throws {
        let value = try await onLoop { await Deadline.race(until: .now + .seconds(60)) { 7 } }
        #expect(value == 7)
    }
}
