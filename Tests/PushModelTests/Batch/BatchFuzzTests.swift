import RandomTesting
import Testing

@testable import PushModel

struct BatchFuzzTests {
    /// The expected content of a batch.
    struct Expected {
        var jobID: String
        var options: PushOptions
        var attempt: UInt8
        var cause: String
        var pushes: [(token: [UInt8], payload: [UInt8])]
    }

    static func options(_ random: inout SplitMix) -> PushOptions {
        func time(_ random: inout SplitMix) -> Int64? {
            random.chance(2) ? nil : Int64(truncatingIfNeeded: random.next())
        }
        func text(_ random: inout SplitMix, _ words: [String?]) -> String? {
            words.randomElement(using: &random)!
        }
        return PushOptions(
            pushType: PushType.allCases.randomElement(using: &random)!,
            priority: [1, 5, 10].randomElement(using: &random)!, expiration: time(&random),
            deadline: time(&random),
            collapseID: text(&random, [nil, "c", String(repeating: "ü", count: 32)]),
            topic: text(&random, [nil, "t", String(repeating: "x", count: 255)]),
            receipts: Receipts.allCases.randomElement(using: &random)!,
            delivery: DeliveryGuarantee.allCases.randomElement(using: &random)!,
            maxAttempts: UInt8.random(in: 1...100, using: &random), registeredAt: time(&random),
            isStored: random.chance(2))
    }

    static func batch(_ random: inout SplitMix) -> (body: [UInt8], jobParts: [Expected]) {
        var builder = BatchBuilder()
        var jobParts: [Expected] = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let perPush = random.chance(2)
            var jobPart = Expected(
                jobID: ["", "j", "Jöb 😀", String(repeating: "i", count: 64)].randomElement(using: &random)!,
                options: options(&random), attempt: UInt8.random(in: 0...255, using: &random),
                cause: ["", "ServiceUnavailable"].randomElement(using: &random)!, pushes: [])
            let head = JobPartHead(
                jobID: jobPart.jobID, options: jobPart.options, attempt: jobPart.attempt,
                cause: jobPart.cause,
                payloadPerPush: perPush)
            let shared = perPush ? [] : random.bytes(Int.random(in: 0...40, using: &random))
            shared.withUnsafeBytes { builder.begin(head, payload: $0) }
            for _ in 0..<Int.random(in: 0...9, using: &random) {
                let token = random.bytes(Int.random(in: 1...255, using: &random))
                let payload = perPush ? random.bytes(Int.random(in: 0...40, using: &random)) : shared
                jobPart.pushes.append((token, payload))
                token.withUnsafeBytes { token in
                    payload.withUnsafeBytes { payload in
                        if perPush {
                            builder.append(token: token, payload: payload)
                        } else {
                            builder.append(token: token)
                        }
                    }
                }
            }
            if !jobPart.pushes.isEmpty { jobParts.append(jobPart) }
        }
        return (builder.finish() ?? [], jobParts)
    }

    @Test func `decodes what was encoded`() throws {
        var random = SplitMix(seed: 1)
        for _ in 0..<400 {
            let (body, jobParts) = Self.batch(&random)
            guard !jobParts.isEmpty else { continue }
            let batch = try Batch(decoding: body)
            #expect(batch.jobParts.count == jobParts.count)
            for (index, (found, expected)) in zip(batch.jobParts, jobParts).enumerated() {
                #expect(batch.jobID(of: index) == expected.jobID)
                #expect(found.options == expected.options)
                #expect(found.attempt == expected.attempt && batch.text(found.cause) == expected.cause)
                #expect(found.pushes.count == expected.pushes.count)
                for (push, wanted) in zip(batch.pushes[found.pushes], expected.pushes) {
                    #expect(Array(batch.bytes[push.token]) == wanted.token)
                    #expect(Array(batch.bytes[push.payload]) == wanted.payload)
                    #expect(Int(push.jobPart) == index)
                }
            }
        }
    }

    @Test func `damaged bodies are read or refused and never trap`() {
        var random = SplitMix(seed: 2)
        var refused = 0
        for _ in 0..<3000 {
            var (body, _) = Self.batch(&random)
            guard !body.isEmpty else { continue }
            switch random.next() % 4 {
            case 0: body.removeLast(Int.random(in: 1...body.count, using: &random))
            case 1: body = random.bytes(Int.random(in: 0...200, using: &random))
            default:
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    body[Int.random(in: 0..<body.count, using: &random)] = UInt8(
                        truncatingIfNeeded: random.next())
                }
            }
            do {
                let batch = try Batch(decoding: body)
                for push in batch.pushes {
                    #expect(push.token.upperBound <= body.count && push.payload.upperBound <= body.count)
                }
            } catch {
                refused += 1
            }
        }
        #expect(refused > 1000)
    }

    @Test func `huge counts without bytes use no memory`() {
        let body = bytes(hex: "01ffff") + [UInt8](repeating: 0xff, count: 64)
        #expect(throws: CodecError.self) { try Batch(decoding: body) }
    }
}
