import BatchTesting
import PushModel
import StoreProtocol

@testable import Delivery

/// Helpers that make held batches and read their reports.
extension Batches {
    static func held(
        _ parts: [Part], granted: Int? = nil, suspicion: Suspicion? = nil, map: String? = nil
    ) throws -> HeldBatch {
        let batch = try Batch(decoding: body(parts))
        let map = map.map { Array($0.utf8) } ?? Array(repeating: UInt8(ascii: "."), count: batch.pushes.count)
        return HeldBatch(
            number: 1, id: BatchID(Array("03.h.7".utf8)), shard: 3, lane: .high, delivery: 1,
            granted: granted ?? batch.pushes.count, suspicion: suspicion, map: map, batch: batch)
    }

    /// Returns a held batch with one push to each of `devices`, whose shard uses `route`.
    static func held(_ number: UInt32, devices: [Int], on route: ShardRoute) throws -> HeldBatch {
        var builder = BatchBuilder()
        let head = JobPartHead(
            jobID: "job", options: PushOptions(), attempt: 0, cause: "", payloadPerPush: false)
        Array("{}".utf8).withUnsafeBytes { builder.begin(head, payload: $0) }
        for device in devices { token(device).withUnsafeBytes { builder.append(token: $0) } }
        let body = builder.finish()!
        return HeldBatch(
            number: number, id: BatchID(Array("03.h.\(number)".utf8)), shard: 3, lane: .high, delivery: 1,
            granted: devices.count, suspicion: nil,
            map: Array(repeating: UInt8(ascii: "."), count: devices.count),
            batch: try Batch(decoding: body), route: route)
    }

    /// A batch with several pushes of one job.
    static func held(
        _ count: Int, granted: Int? = nil, suspicion: Suspicion? = nil, map: String? = nil
    ) throws -> HeldBatch {
        try held([Part(count: count)], granted: granted, suspicion: suspicion, map: map)
    }

    /// The positions in `runs`, counted from 0.
    static func positions(_ runs: PositionRuns) -> [Int] {
        stride(from: 0, to: runs.bytes.count, by: 4).flatMap { at in
            let first = Int(runs.bytes[at]) << 8 | Int(runs.bytes[at + 1])
            let last = Int(runs.bytes[at + 2]) << 8 | Int(runs.bytes[at + 3])
            return Array(first - 1..<last)
        }
    }

    /// The content of a results entry, one line for each push. A line begins with the number of the push's token. If the entry
    /// has no token of a delivered push, the line has only the job and the outcome.
    static func lines(_ bytes: [UInt8]) throws -> [String] {
        let entry = try WorkerReport(decoding: bytes)
        func named(_ tokens: Range<Int>, _ text: String) -> [String] {
            tokens.map { index in
                let token = entry.tokens[index]
                let time = token.timestamp == 0 ? "" : " at \(token.timestamp)"
                return "\(position(ofToken: entry.bytes[token.range])) \(text)\(time)"
            }
        }
        return entry.items.flatMap { item -> [String] in
            let job = entry.jobID(of: item)
            switch item.result {
            case .delivered(let tokens) where tokens.isEmpty:
                return Array(repeating: "\(job) delivered", count: item.count)
            case .delivered(let tokens): return named(tokens, "\(job) delivered")
            case .failed(let failure):
                return named(
                    failure.tokens,
                    "\(job) failed \(entry.text(failure.reason)) \(failure.status) "
                        + "cause \(entry.text(failure.cause))"
                        + (failure.isInvalidToken ? " dead" : "") + (failure.isUnknown ? " unknown" : ""))
            case .expired(let expiry):
                return named(expiry.tokens, "\(job) expired cause \(entry.text(expiry.cause))")
            case .letter(let letter):
                return letter.jobPart.pushes.map { index in
                    let push = entry.pushes[index]
                    return
                        "\(position(ofToken: entry.bytes[push.token])) \(job) failed \(entry.text(letter.reason)) "
                        + "\(letter.status) cause \(entry.text(letter.jobPart.cause)) \(entry.text(push.payload))"
                }
            case .retry(let retry):
                return retry.jobPart.pushes.map { index in
                    let push = entry.pushes[index]
                    let payload = entry.text(push.payload)
                    return
                        "\(position(ofToken: entry.bytes[push.token])) \(job) retry \(retry.why) \(retry.status) "
                        + "\(entry.text(retry.reason)) after \(retry.retryAfterMilliseconds) tries "
                        + "\(retry.jobPart.attempt) cause \(entry.text(retry.jobPart.cause)) \(payload)"
                }
            }
        }
    }
}

extension HeldBatch {
    /// Sends every push that the window allows now.
    @discardableResult
    func sendAll() -> [Int] {
        var sent: [Int] = []
        while let position = next() { sent.append(position) }
        return sent
    }

    /// Reports the settled positions. Returns the positions, the lines, and whether all lines are final facts.
    func reportNow() throws -> (positions: [Int], lines: [String], isFact: Bool)? {
        var builder = ResultsBuilder()
        guard let report = beginReport(&builder) else { return nil }
        return (Batches.positions(report.runs), try Batches.lines(report.entry), report.hasOnlyFacts)
    }
}
